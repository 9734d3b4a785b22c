"""One setting to simulate, as plain values: it can be compared, sent to a process, written down."""

from dataclasses import dataclass, field

from kvsim import checks
from kvsim.allocation import Allocation, Paged
from kvsim.curve import DEFAULT_REPLICATIONS, PLATE_DURATION_S, PLATE_SEED, Traffic
from kvsim.engine import simulate
from kvsim.limits import FEW_REPLICATIONS, BindingLimits, binding_limits
from kvsim.server import Server
from kvsim.summary import ServiceLimits, Summary, summarise
from kvsim.timeline import Timeline
from kvsim.workload import ExponentialLengths, Lengths


@dataclass(frozen=True)
class Setting:
    """A server, how it allocates, and what is asked of it; by default the plate's.

    ``replications`` runs of ``duration_s`` of Poisson traffic at ``rate_per_s``, from one seed, so
    that settings share their random numbers; ``limits`` say which requests count for the goodput.
    Raises ``ValueError`` for values outside of their ranges.
    """

    server: Server = field(default_factory=Server)
    allocation: Allocation = field(default_factory=Paged)
    lengths: Lengths = field(default_factory=ExponentialLengths)
    rate_per_s: float = 18.0
    replications: int = DEFAULT_REPLICATIONS
    seed: int = PLATE_SEED
    duration_s: float = PLATE_DURATION_S
    limits: ServiceLimits = field(default_factory=ServiceLimits)

    def __post_init__(self) -> None:
        checks.keep(self, checks.positive, "rate_per_s", "duration_s")
        checks.keep(self, checks.whole, "replications")
        object.__setattr__(self, "seed", checks.whole("seed", self.seed, least=0))
        for name, kind in (("server", Server), ("limits", ServiceLimits)):
            if not isinstance(getattr(self, name), kind):
                raise ValueError(f"{name} is {getattr(self, name)!r}: give a {kind.__name__}.")

    def run(self) -> list[Timeline]:
        """Simulate all replications. Raises ``ValueError`` as :func:`kvsim.simulate` does."""
        return [
            simulate(
                Traffic(self.lengths, self.seed, replication).during(
                    self.duration_s, self.rate_per_s
                ),
                self.server,
                self.allocation,
            )
            for replication in range(self.replications)
        ]

    def summary(self) -> Summary:
        """Simulate all replications and sum them up."""
        return summarise(self.run(), self.limits)

    def binding_limits(self) -> BindingLimits:
        """Say which limit binds at the rate, from the first few of the replications."""
        return binding_limits(
            self.server,
            self.allocation,
            self.lengths,
            [self.rate_per_s],
            replications=min(self.replications, FEW_REPLICATIONS),
            duration_s=self.duration_s,
            seed=self.seed,
        )
