"""A chosen model on chosen GPUs: the memory left for its cache, and the server to simulate."""

from dataclasses import dataclass, replace

from kvsim import checks
from kvsim.deployment.cache_layout import GIB, KV_DTYPES, cache_layout
from kvsim.deployment.cards import Card
from kvsim.deployment.layers import Attention, Latent, LinearState
from kvsim.deployment.shape import Parameters, Shape
from kvsim.kinds import of_kind
from kvsim.model import Model
from kvsim.server import Server

# What a pass needs beside weights and cache, on each GPU: activations, CUDA graphs, buffers of
# the communication. Servers measure it when they start; this is an allowance, and an assumption.
WORKING_BYTES = 2 * GIB
UTILIZATION = 0.9  # of a GPU's memory, which is vLLM's default


@dataclass(frozen=True)
class ServedModel(Model):
    """A model whose cost is not that of a dense one with one kind of attention.

    ``weights_bytes`` are read in every pass; ``cached_bytes`` is what a token takes in the cache,
    ``active_parameters`` those that it is multiplied with, ``attention_flops`` the arithmetic of
    attending to one position. All are over all GPUs together.
    """

    weights_bytes: float = 0
    cached_bytes: int = 0
    active_parameters: float = 0
    attention_flops: float = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.keep(self, checks.positive, "weights_bytes", "active_parameters", "attention_flops")
        checks.keep(self, checks.whole, "cached_bytes")

    @property
    def weight_bytes(self) -> float:
        """Bytes of the weights, all of which every pass reads."""
        return self.weights_bytes

    @property
    def kv_bytes_per_token(self) -> float:
        """Bytes that one token's keys and values occupy in the cache, over all layers."""
        return self.cached_bytes

    @property
    def flops_per_token(self) -> float:
        """Arithmetic for one processed token: a multiply-add per active parameter."""
        return 2 * self.active_parameters

    @property
    def flops_per_attended(self) -> float:
        """Arithmetic for one attended position."""
        return self.attention_flops


def counted(shape: Shape) -> Parameters:
    """Return a shape's parameters, or raise ``ValueError`` that says why they are not known."""
    if shape.parameters is None:
        raise ValueError(f"{shape.name}: {shape.uncounted}")
    return shape.parameters


def cache_bytes_left(
    shape: Shape,
    card: Card,
    *,
    utilization: float = UTILIZATION,
    tp: int = 1,
    pp: int = 1,
    weights: str | None = None,
    working_bytes: float = WORKING_BYTES,
) -> float:
    """Return the bytes that are left for the cache on each of ``tp * pp`` GPUs.

    That is ``utilization`` of the memory, less the weights, which are taken to be spread evenly,
    and ``working_bytes``. ``weights`` is their type, "bf16", "fp8" or "4-bit", and that of the
    published files if not given. Raises ``ValueError`` with the numbers if nothing is left.
    """
    of_kind("shape", shape, Shape)
    of_kind("card", card, Card)
    utilization = checks.share("utilization", utilization)
    working_bytes = checks.not_negative("working_bytes", working_bytes)
    gpus = checks.whole("tp", tp) * checks.whole("pp", pp)
    kind = shape.weights if weights is None else weights
    share = counted(shape).weight_bytes(kind) / gpus
    left = utilization * card.memory_bytes - share - working_bytes
    if left <= 0:
        raise ValueError(
            f"{shape.name} does not fit on {gpus} x {card.gpu.name}: each has "
            f"{utilization * card.memory_bytes / GIB:.2f} GiB to use ({utilization:.0%} of "
            f"{card.memory_bytes / GIB:.2f}), and needs {share / GIB:.2f} for {kind} weights and "
            f"{working_bytes / GIB:.2f} to work with: take more or larger GPUs, or smaller weights."
        )
    return left


def server_for(
    shape: Shape,
    card: Card,
    *,
    utilization: float = UTILIZATION,
    tp: int = 1,
    pp: int = 1,
    weights: str | None = None,
    kv_dtype: str = "bf16",
    working_bytes: float = WORKING_BYTES,
    cache_bytes: float | None = None,
    max_num_seqs: int | None = None,
    max_batched_tokens: int | None = None,
) -> Server:
    """Return a server of the simulation for a model on ``tp`` GPUs.

    Its cache has what :func:`cache_bytes_left` leaves, or ``cache_bytes`` on each GPU if they are
    given, as a running server prints them; then memory is not shared out.

    The GPUs are simulated as one with ``tp`` times the rates, and what they say to each other as
    taking no time. Arithmetic runs at the rate of BF16 whatever the type of the weights. Every
    pass reads all weights: of a mixture of experts, as a large batch does, whose tokens are sent
    to nearly all of them (a batch of one reads fewer, so its passes are simulated as too long).
    Latent attention (MLA) costs what it does in a prefill, with heads written out.

    Sliding windows are simulated as if their layers kept all tokens, as servers do without a
    hybrid cache: fewer requests fit than with one. Raises ``ValueError`` for a model that does
    not fit, for linear states, which no number of bytes a token stands for, and for pipeline
    stages, whose passes overlap as no single sequence of passes does.
    """
    of_kind("shape", shape, Shape)
    of_kind("card", card, Card)
    of_kind("kv_dtype", kv_dtype, str)
    of_kind("weights", "" if weights is None else weights, str)
    if checks.whole("pp", pp) > 1:
        raise ValueError(
            f"pp is {pp}: pipeline stages work on several passes at a time, which is not "
            "simulated; give 1, and more tp."
        )
    layer = _only_layer(shape)
    shape.refuse_uneven_heads(checks.whole("tp", tp))
    if shape.attention_flops is None or shape.attention_heads is None:
        raise ValueError(
            f"{shape.name} does not say its attention heads, so passes cannot be timed: add "
            "num_attention_heads (and v_head_dim, qk_nope_head_dim) to its config.json."
        )
    parameters = counted(shape)
    if cache_bytes is None:
        cache_bytes = cache_bytes_left(
            *(shape, card),
            utilization=utilization,
            tp=tp,
            weights=weights,
            working_bytes=working_bytes,
        )
    kind = shape.weights if weights is None else weights
    layout = cache_layout((layer,) * len(shape.layers), kv_dtype=kv_dtype, tp=tp)
    gpu = card.gpu
    if tp > 1:
        gpu = replace(
            gpu,
            name=f"{tp} x {gpu.name}",
            peak_flops=tp * gpu.peak_flops,
            peak_bandwidth=tp * gpu.peak_bandwidth,
            pcie_bandwidth=tp * gpu.pcie_bandwidth,
        )
    weights_bytes = parameters.weight_bytes(kind)
    model = ServedModel(
        shape.name,
        parameters=parameters.total,
        layers=len(shape.layers),
        attention_heads=shape.attention_heads,
        kv_heads=layer.kv_heads if isinstance(layer, Attention) else 1,
        head_dim=layer.head_dim if isinstance(layer, Attention) else layer.rank + layer.rope_dim,
        bytes_per_parameter=weights_bytes / parameters.total,
        bytes_per_kv_element=KV_DTYPES[kv_dtype],
        weights_bytes=weights_bytes,
        cached_bytes=tp * layout.bytes_per_token,
        active_parameters=parameters.active,
        attention_flops=shape.attention_flops,
    )
    return Server(
        model,
        gpu,
        tp * checks.positive("cache_bytes", cache_bytes),
        max_num_seqs,
        max_batched_tokens,
    )


def _only_layer(shape: Shape) -> Attention | Latent:
    """Return the one kind of layer that a model has, sliding windows aside."""
    kinds: set[Attention | Latent] = set()
    for layer in shape.layers:
        if isinstance(layer, LinearState):
            raise ValueError(
                f"{shape.name} has layers with a linear state: only its capacity is computed, and "
                "it is not simulated."
            )
        kinds.add(replace(layer, window=None) if isinstance(layer, Attention) else layer)
    if len(kinds) > 1:
        raise ValueError(
            f"{shape.name} has layers of different heads: only its capacity is computed, and it "
            "is not simulated."
        )
    return kinds.pop()


def simplifications(shape: Shape, tp: int = 1) -> list[str]:
    """Return, in sentences, what a simulation of this model leaves out."""
    of_kind("shape", shape, Shape)
    checks.whole("tp", tp)
    said = []
    if any(isinstance(layer, Attention) and layer.window for layer in shape.layers):
        said.append(
            "Layers with a sliding window are simulated as if they kept all tokens: fewer "
            "requests fit than on a server with a hybrid cache."
        )
    if shape.parameters is not None and shape.parameters.active < shape.parameters.total:
        said.append(
            "Every pass reads all experts, as a large batch does: passes of small batches are "
            "simulated as too long."
        )
    if tp > 1:
        said.append("The GPUs' communication is simulated as taking no time.")
    return said
