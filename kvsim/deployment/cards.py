"""GPUs that models are served on, and the memory that each shows to a server.

Peak rates are dense (without sparsity), for BF16 inputs that are added up in FP32; host links are
given for one direction. Memory is what the driver reports, which is what servers take a share of:
data sheets round it, and some subtract what error correction takes.
"""

from dataclasses import dataclass

from kvsim.hardware import A100_40GB, A100_80GB, GPU, H100

_MIB = 2**20


@dataclass(frozen=True)
class Card:
    """A GPU and its memory in bytes, as the driver reports it."""

    gpu: GPU
    memory_bytes: int


CARDS = {
    # Memory of the NVIDIA cards: nvidia-smi in public logs.
    "A100-40GB": Card(A100_40GB, 40_960 * _MIB),
    "A100-80GB": Card(A100_80GB, 81_920 * _MIB),
    "H100": Card(H100, 81_559 * _MIB),
    # NVIDIA, "H200 Tensor Core GPU" data sheet, SXM: 1,979 TFLOP/s with sparsity, PCIe Gen5 x16.
    "H200": Card(
        GPU("H200 SXM", peak_flops=989e12, peak_bandwidth=4.8e12, pcie_bandwidth=64e9),
        143_771 * _MIB,
    ),
    # NVIDIA, "L4 Tensor Core GPU" data sheet: 242 TFLOP/s with sparsity, PCIe Gen4 x16.
    "L4": Card(
        GPU("L4", peak_flops=121e12, peak_bandwidth=300e9, pcie_bandwidth=32e9), 23_034 * _MIB
    ),
    # NVIDIA, "L40S" data sheet: 362.05 TFLOP/s without sparsity, PCIe Gen4 x16.
    "L40S": Card(
        GPU("L40S", peak_flops=362e12, peak_bandwidth=864e9, pcie_bandwidth=32e9), 46_068 * _MIB
    ),
    # NVIDIA, "Ada GPU Architecture" white paper, table of the RTX 4090: PCIe Gen4 x16.
    "RTX-4090": Card(
        GPU("RTX 4090", peak_flops=165.2e12, peak_bandwidth=1.008e12, pcie_bandwidth=32e9),
        24_564 * _MIB,
    ),
    # AMD, "Instinct MI300X Accelerator" data sheet: PCIe Gen5 x16. Memory: rocm-smi in public
    # logs.
    "MI300X": Card(
        GPU("MI300X", peak_flops=1307.4e12, peak_bandwidth=5.3e12, pcie_bandwidth=64e9),
        206_141_652_992,
    ),
    # NVIDIA, "Blackwell Architecture Technical Brief", HGX B200: 2.25 PFLOP/s without sparsity.
    # Its host link, PCIe Gen5 x16 on that board, was not found in a second copy.
    "B200": Card(
        GPU("B200 HGX", peak_flops=2.25e15, peak_bandwidth=8e12, pcie_bandwidth=64e9),
        183_359 * _MIB,
    ),
}
