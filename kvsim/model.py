"""Which language model: the shape that decides what a token costs in memory and arithmetic."""

from dataclasses import dataclass

from kvsim import checks


@dataclass(frozen=True)
class Model:
    """A decoder-only transformer with one kind of attention layer.

    ``bytes_per_parameter`` and ``bytes_per_kv_element`` are 2 for BF16. Raises ``ValueError``
    for counts that are not whole numbers of at least one, and sizes that are not above zero.
    """

    name: str
    parameters: float
    layers: int
    attention_heads: int
    kv_heads: int
    head_dim: int
    bytes_per_parameter: float = 2
    bytes_per_kv_element: float = 2

    def __post_init__(self) -> None:
        checks.keep(
            self, checks.positive, "parameters", "bytes_per_parameter", "bytes_per_kv_element"
        )
        checks.keep(self, checks.whole, "layers", "attention_heads", "kv_heads", "head_dim")

    @property
    def weight_bytes(self) -> float:
        """Bytes of the weights, all of which every pass reads."""
        return self.bytes_per_parameter * self.parameters

    @property
    def kv_bytes_per_token(self) -> float:
        """Bytes that one token's keys and values occupy in the cache, over all layers."""
        return 2 * self.layers * self.kv_heads * self.head_dim * self.bytes_per_kv_element

    @property
    def flops_per_token(self) -> float:
        """Arithmetic for one processed token, attention aside: a multiply-add per parameter."""
        return 2 * self.parameters

    @property
    def flops_per_attended(self) -> float:
        """Arithmetic for one attended position: scores and weighted values, a multiply-add each."""
        return 4 * self.layers * self.attention_heads * self.head_dim


# Shape: Grattafiori et al., "The Llama 3 Herd of Models" (2024), table 3. Parameters: model card.
LLAMA_3_8B = Model(
    "Llama 3 8B", parameters=8.03e9, layers=32, attention_heads=32, kv_heads=8, head_dim=128
)

# Zhang et al., "OPT: Open Pre-trained Transformer Language Models" (2022), table 1. Kwon et al.
# (SOSP 2023, table 1) serve these three, in FP16.
OPT_13B = Model(
    "OPT-13B", parameters=13e9, layers=40, attention_heads=40, kv_heads=40, head_dim=128
)
OPT_66B = Model(
    "OPT-66B", parameters=66e9, layers=64, attention_heads=72, kv_heads=72, head_dim=128
)
OPT_175B = Model(
    "OPT-175B", parameters=175e9, layers=96, attention_heads=96, kv_heads=96, head_dim=128
)
