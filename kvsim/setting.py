"""One setting to simulate, as plain values: it can be compared, sent to a process, written down."""

from dataclasses import dataclass, field

from kvsim import checks
from kvsim.allocation import Allocation, Paged
from kvsim.binding import FEW_REPLICATIONS, BindingLimits, binding_limits
from kvsim.engine import simulate
from kvsim.kinds import of_kind
from kvsim.server import Server
from kvsim.summary import ServiceLimits, Summary, summarise
from kvsim.timeline import Timeline
from kvsim.traffic import DEFAULT_REPLICATIONS, PLATE_DURATION_S, PLATE_SEED, Traffic
from kvsim.workload import ExponentialLengths, Lengths

# Requests per second, and seconds: beyond them times are too long to tell one pass from the next.
RATES = (1e-9, 1e9)
LONGEST_S = 1e10
# Of a GPU's published rates: with less, a pass would take longer than any traffic lasts.
LEAST_SHARE = 0.001
MOST_REQUESTS = 20_000_000  # of one run, which are in memory together


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
        self._refuse_what_never_ends()
        checks.keep(self, checks.whole, "replications")
        object.__setattr__(self, "seed", checks.whole("seed", self.seed, least=0))
        of_kind("server", self.server, Server)
        of_kind("allocation", self.allocation, Allocation)
        of_kind("lengths", self.lengths, Lengths)
        of_kind("limits", self.limits, ServiceLimits)

    def _refuse_what_never_ends(self) -> None:
        for name, least, most in (("rate_per_s", *RATES), ("duration_s", 0, LONGEST_S)):
            value = getattr(self, name)
            if not least <= value <= most:
                raise ValueError(f"{name} is {value:g}: it must be from {least:g} to {most:g}.")
        if self.rate_per_s * self.duration_s > MOST_REQUESTS:
            raise ValueError(
                f"rate_per_s is {self.rate_per_s:g} and duration_s is {self.duration_s:g}, which "
                f"is about {self.rate_per_s * self.duration_s:,.6g} requests: at most "
                f"{MOST_REQUESTS:,} are simulated in a run, so lower one of them."
            )

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
