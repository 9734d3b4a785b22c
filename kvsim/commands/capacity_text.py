"""What ``kvsim capacity`` says: figures of a cache in lines, and notes in sentences."""

import json
from collections.abc import Iterable

from kvsim.deployment.cache_figures import CacheFigures
from kvsim.deployment.cache_layout import GIB
from kvsim.deployment.cards import CARDS
from kvsim.deployment.layers import Attention, Latent, Layer
from kvsim.deployment.presets import MODELS
from kvsim.deployment.served import WORKING_BYTES
from kvsim.deployment.shape import Shape


def lines(
    shape: Shape, figures: CacheFigures, memory: str, gpus: int, printed: bool
) -> Iterable[str]:
    """Describe the model and its cache, of ``memory`` (in words), a figure a line.

    ``printed`` is whether the memory is a figure of two decimals, so that the tokens have limits.
    """
    where = "one GPU" if gpus == 1 else f"each of {gpus} GPUs"
    yield f"{shape.name}: {_kinds(shape.layers)}; {memory} on {where}"
    yield f"Bytes per token      {figures.bytes_per_token:,}"
    yield f"Blocks               {figures.blocks:,} of {figures.block_size:,} tokens"
    between = f"{figures.tokens_low:,} to {figures.tokens_high:,}"
    yield f"Tokens               {figures.tokens:,}" + (
        f" ({between} for a figure of two decimals)" if printed else ""
    )
    if figures.max_concurrency is not None:
        yield (
            f"Maximum concurrency  {figures.max_concurrency:.2f} requests of "
            f"{figures.max_length:,} tokens"
        )
    yield (
        f"Requests that fit    {figures.requests_at_once:.0f} of the {figures.workload} workload "
        f"(a running one holds {figures.mean_request_tokens:,.0f} tokens on average)"
    )


def _kinds(layers: tuple[Layer, ...]) -> str:
    said = []
    for layer in dict.fromkeys(layers):
        if isinstance(layer, Attention):
            what = f"{layer.kv_heads} key and value heads of {layer.head_dim}"
            what += f" in a window of {layer.window:,}" if layer.window else ""
        elif isinstance(layer, Latent):
            what = f"latent vectors of {layer.rank} and {layer.rope_dim}"
        else:
            what = "a linear state"
        said.append(f"{layers.count(layer)} layers with {what}")
    return ", ".join(said)


def notes(figures: CacheFigures, printed: bool) -> Iterable[str]:
    """Say what the figures of a cache do not show."""
    if figures.max_length is None:
        yield "The model does not say its longest request: give --max-length for the concurrency."
    elif figures.longest_request is not None and figures.longest_request < figures.max_length:
        yield (
            f"A request of {figures.max_length:,} tokens does not fit: a server refuses to start "
            f"with this maximum length, and the longest that fits has "
            f"{figures.longest_request:,}."
        )
    if figures.groups > 1:
        yield (
            f"The layers form {figures.groups} groups, so the number of tokens is no capacity: the "
            "concurrency is."
            + (
                " Newer servers print it times the maximum length, "
                f"{figures.tokens_at_max_length:,} tokens."
                if figures.tokens_at_max_length is not None
                else ""
            )
        )
    if not printed:
        yield (
            f"Of the GPU's memory, {WORKING_BYTES / GIB:.0f} GiB are taken to be needed for work "
            "beside weights and cache; a server measures it."
        )


def listed(as_json: bool) -> str:
    """List the models and GPUs that are known by name."""
    if as_json:
        models = {
            key: {"title": preset.title, "source": preset.source} for key, preset in MODELS.items()
        }
        gpus = {
            key: {"title": card.gpu.name, "memory_gib": card.memory_bytes / GIB}
            for key, card in CARDS.items()
        }
        return json.dumps({"models": models, "gpus": gpus}, indent=2)
    said = ["Models:"]
    said += [f"  {key:15}{preset.title} ({preset.source})" for key, preset in MODELS.items()]
    said += ["GPUs:"]
    said += [
        f"  {key:15}{card.gpu.name}, {card.memory_bytes / GIB:.1f} GiB"
        for key, card in CARDS.items()
    ]
    return "\n".join(said)
