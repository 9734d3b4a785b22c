"""The requests of a trace, replayed once: at their own times, or scaled to a rate."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kvsim import checks
from kvsim.allocation import Allocation, Paged
from kvsim.binding import BindingLimits, doubled, limits_of
from kvsim.engine import simulate
from kvsim.kinds import of_kind
from kvsim.server import Server
from kvsim.summary import ServiceLimits, Summary, summarise
from kvsim.timeline import Timeline
from kvsim.traces.lengths import TraceLengths
from kvsim.traces.trace import Trace
from kvsim.workload import Requests


@dataclass(frozen=True, eq=False)
class Replay:
    """A server, how it allocates, and a trace; used as a :class:`kvsim.Setting` is.

    Requests are cut at ``max_length`` tokens, as ``TraceLengths`` does. With
    ``scaled_to_per_s`` all gaps between arrivals are stretched alike, so that requests come at
    that rate. Raises ``ValueError`` for values outside of their ranges, and for a rate if all
    requests arrive at once.
    """

    trace: Trace
    server: Server = field(default_factory=Server)
    allocation: Allocation = field(default_factory=Paged)
    max_length: int = 8192
    scaled_to_per_s: float | None = None
    limits: ServiceLimits = field(default_factory=ServiceLimits)

    replications = 1
    seed = None  # nothing is drawn

    def __post_init__(self) -> None:
        of_kind("trace", self.trace, Trace)
        of_kind("server", self.server, Server)
        of_kind("allocation", self.allocation, Allocation)
        of_kind("limits", self.limits, ServiceLimits)
        checks.keep(self, checks.length, "max_length")
        self.requests  # noqa: B018, the rate is refused now, not later

    @cached_property
    def lengths(self) -> TraceLengths:
        """Lengths of the requests."""
        return self.trace.lengths(self.max_length)

    @cached_property
    def requests(self) -> Requests:
        """The requests as they arrive."""
        cut = self.trace.cut(self.max_length)
        rate = self.scaled_to_per_s
        return cut.requests() if rate is None else cut.at_rate(rate)

    @property
    def rate_per_s(self) -> float:
        """Requests per second; infinite if all arrive at once."""
        return self.trace.rate_per_s if self.scaled_to_per_s is None else self.scaled_to_per_s

    @property
    def duration_s(self) -> float:
        """Seconds from the first arrival to the last."""
        return float(self.requests.arrival_s[-1] - self.requests.arrival_s[0])

    def run(self) -> list[Timeline]:
        """Simulate the one run. Raises ``ValueError`` as :func:`kvsim.simulate` does."""
        return [simulate(self.requests, self.server, self.allocation)]

    def summary(self) -> Summary:
        """Simulate it and sum it up."""
        return summarise(self.run(), self.limits)

    def binding_limits(self) -> BindingLimits:
        """Say which limit binds, as :func:`kvsim.binding_limits` does, for these arrivals."""
        medians_s = [
            [(np.median(run.ttft_s), np.median(run.latency_s))]
            for run in (
                simulate(self.requests, server, self.allocation)
                for server in (self.server, *doubled(self.server).values())
            )
        ]
        return limits_of(np.array([self.rate_per_s]), np.array(medians_s))
