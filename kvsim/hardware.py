"""Which GPU: its published rates, and the share of them that a serving engine reaches."""

from dataclasses import dataclass

from kvsim import checks


@dataclass(frozen=True)
class GPU:
    """One accelerator.

    ``peak_flops`` is in FLOP/s (dense, at the precision of the weights); ``peak_bandwidth`` and
    ``pcie_bandwidth`` are in bytes/s; ``pass_overhead_s`` is the fixed time of a forward pass, and
    ``copy_overhead_s`` that of a copy to or from the host, whatever its size (0: only bytes count).
    The shares say how much of each published rate is reached: they are assumptions, not
    measurements. Raises ``ValueError`` for rates that are not above zero, and shares above one.
    """

    name: str
    peak_flops: float
    peak_bandwidth: float
    pcie_bandwidth: float
    compute_share: float = 0.6
    bandwidth_share: float = 0.8
    pcie_share: float = 0.8
    pass_overhead_s: float = 0.2e-3
    copy_overhead_s: float = 0.0

    def __post_init__(self) -> None:
        checks.keep(self, checks.positive, "peak_flops", "peak_bandwidth", "pcie_bandwidth")
        checks.keep(self, checks.share, "compute_share", "bandwidth_share", "pcie_share")
        checks.keep(self, checks.not_negative, "pass_overhead_s", "copy_overhead_s")

    @property
    def effective_flops(self) -> float:
        """Reached arithmetic rate in FLOP/s."""
        return self.compute_share * self.peak_flops

    @property
    def effective_bandwidth(self) -> float:
        """Reached memory bandwidth in bytes/s."""
        return self.bandwidth_share * self.peak_bandwidth

    @property
    def effective_pcie_bandwidth(self) -> float:
        """Reached bandwidth to the host in bytes/s, in one direction."""
        return self.pcie_share * self.pcie_bandwidth


# NVIDIA, "H100 Tensor Core GPU" data sheet, SXM column: BF16 without sparsity, HBM3, PCIe Gen5 x16.
H100 = GPU("H100 SXM", peak_flops=989e12, peak_bandwidth=3.35e12, pcie_bandwidth=64e9)

# NVIDIA, "A100 Tensor Core GPU" data sheet (2021), SXM column: FP16 and BF16 without sparsity, HBM2
# and HBM2e, PCIe Gen4 x16 in one direction.
A100_40GB = GPU("A100 SXM 40 GB", peak_flops=312e12, peak_bandwidth=1.555e12, pcie_bandwidth=32e9)
A100_80GB = GPU("A100 SXM 80 GB", peak_flops=312e12, peak_bandwidth=2.039e12, pcie_bandwidth=32e9)
