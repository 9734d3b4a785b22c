"""The shape of a model that is served: its layers, and its parameters if they can be counted."""

from dataclasses import dataclass, replace

from kvsim import checks
from kvsim.deployment.layers import Layer

# Bits of a weight, by type. 4-bit formats keep a scale for each few weights: MXFP4 8 bits for 32
# (Open Compute Project, "Microscaling Formats", 2023), which makes 4.25; integer formats with
# groups of 128 take 4.125 to 4.25.
WEIGHT_BITS = {"bf16": 16.0, "fp8": 8.0, "4-bit": 4.25}


@dataclass(frozen=True)
class Parameters:
    """Parameters of a model, biases and norms (below 0.1 %) aside.

    ``total`` are kept in memory; ``active`` are all but the experts that a token is not sent to.
    ``embedding`` is the part of both, of the table of tokens and the output head, that quantized
    checkpoints keep in BF16 (those of gpt-oss keep attention in it too, a few percent);
    ``lookup`` is the part of it that is only looked up.
    """

    total: int
    active: int
    embedding: int
    lookup: int

    def weight_bytes(self, weights: str) -> float:
        """Bytes of all weights: those of ``weights`` type, and the embedding in BF16."""
        if weights not in WEIGHT_BITS:
            raise ValueError(
                f"weights is {weights!r}: choose one of {', '.join(map(repr, WEIGHT_BITS))}."
            )
        return 2 * self.embedding + WEIGHT_BITS[weights] / 8 * (self.total - self.embedding)


@dataclass(frozen=True)
class Shape:
    """A model as a server sees it.

    ``layers`` has one entry for each layer, in order. ``attention_heads`` are those of the queries,
    None if not known; ``attention_flops`` is the arithmetic of one token attending to one position,
    over all layers, and None if the sizes of its heads are not known;
    ``parameters`` is None, and ``uncounted`` says why, if they cannot be counted. ``max_length``
    is the longest request in tokens that the model is made for, ``weights`` the type that its
    weights are published in. ``notes`` are sentences on how the description was read.
    """

    name: str
    layers: tuple[Layer, ...]
    attention_heads: int | None
    attention_flops: int | None
    parameters: Parameters | None
    uncounted: str
    max_length: int | None
    weights: str
    notes: tuple[str, ...] = ()

    def refuse_uneven_heads(self, tp: int) -> None:
        """Raise ``ValueError`` if attention heads cannot be dealt out evenly to ``tp`` GPUs."""
        if self.attention_heads is not None and self.attention_heads % tp:
            raise ValueError(
                f"tp is {tp}, but the {self.attention_heads} attention heads of {self.name} "
                "cannot be dealt out evenly to as many GPUs: give a divisor."
            )

    def with_parameters(self, billions: float) -> "Shape":
        """Return the shape with so many billions of parameters, all of them active.

        For models whose parameters cannot be counted. Raises ``ValueError`` for a number that is
        not above zero.
        """
        total = round(checks.positive("parameters", billions) * 1e9)
        return replace(self, parameters=Parameters(total, total, 0, 0), uncounted="")
