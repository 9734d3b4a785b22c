"""``kvsim capacity``: what a model's cache holds, from its ``config.json`` or a preset."""

import argparse
import json
import re
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

from kvsim.binned import WORKLOADS
from kvsim.commands.arguments import whole
from kvsim.commands.capacity_text import lines, listed, notes
from kvsim.commands.terminal import fail
from kvsim.deployment.cache_figures import figures_of_bytes, figures_of_gib
from kvsim.deployment.cache_layout import GIB, KV_DTYPES, MOST_TOKENS, cache_layout
from kvsim.deployment.cards import CARDS, Card
from kvsim.deployment.config_json import read_config
from kvsim.deployment.layers import Attention, Latent, Layer
from kvsim.deployment.presets import MODELS
from kvsim.deployment.served import UTILIZATION, cache_bytes_left
from kvsim.deployment.shape import WEIGHT_BITS, Shape

# A config.json has a few kilobytes; what is much larger is some other file.
_MOST_BYTES = 4 * 2**20


def add_capacity(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to a parser's."""
    parser = commands.add_parser(
        "capacity",
        help="say how many tokens and requests a model's cache holds",
        description="Say how many blocks, tokens and requests the KV cache of a server holds.",
    )
    tokens = whole(1, MOST_TOKENS, "number of tokens")
    gpus = whole(1, 1024, "number of GPUs")
    add = parser.add_argument
    add("--config", metavar="FILE_OR_PRESET", help="a model's config.json, or a name from --list")
    add("--list", action="store_true", help="list the models and GPUs that are known by name")
    add("--kv-gib", type=_gib, metavar="G", help="memory of the cache on each GPU, in GiB")
    add("--gpu", metavar="NAME", help="a GPU from --list, whose memory is shared out instead")
    add(
        "--utilization",
        type=_share,
        metavar="U",
        help=f"share of the GPU's memory to use; default {UTILIZATION}",
    )
    add("--weights", choices=list(WEIGHT_BITS), help="type of the weights; default, as published")
    add(
        "--parameters",
        type=_billions,
        metavar="BILLIONS",
        help="parameters, for a config.json from which they cannot be counted",
    )
    add("--block-size", type=tokens, metavar="B", help="tokens of a block; default 16")
    add(
        "--max-length",
        type=whole(2, MOST_TOKENS, "maximum length in tokens"),
        metavar="L",
        help="longest request in tokens; default, the model's own",
    )
    add("--kv-dtype", choices=list(KV_DTYPES), default="bf16", help="type of the cache")
    add("--tp", type=gpus, default=1, metavar="N", help="tensor-parallel GPUs; default 1")
    add("--pp", type=gpus, default=1, metavar="N", help="pipeline stages; default 1")
    add(
        "--max-batched-tokens",
        type=tokens,
        metavar="N",
        default=2048,
        help="most tokens of a pass, which sliding windows must hold too; default 2048",
    )
    add(
        "--draft-tokens",
        type=whole(0, 1024, "number of draft tokens"),
        default=0,
        metavar="N",
        help="tokens drafted ahead, which linear states keep blocks for; default 0",
    )
    add(
        "--draft-layers",
        type=whole(0, 1024, "number of layers"),
        default=0,
        metavar="N",
        help="attention layers of a draft or MTP head, which count as layers; default 0",
    )
    add("--prefix-caching", action="store_true", help="linear states are kept twice")
    add("--workload", choices=list(WORKLOADS), default="exponential", help="whose requests fit")
    add("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    try:
        if given.list:
            print(listed(given.json))
        else:
            print(_answer(given))
    except ValueError as refused:
        return fail(str(refused))
    return 0


def _answer(given: argparse.Namespace) -> str:
    _refuse_what_would_be_ignored(given)
    shape = model_named(given.config)
    shape.refuse_uneven_heads(given.tp)
    if given.parameters is not None:
        shape = shape.with_parameters(given.parameters)
    # A draft head's layers attend to everything, as those of the model that do.
    full = [each for each in shape.layers if isinstance(each, Latent) or _keeps_all(each)]
    if given.draft_layers and not full:
        raise ValueError(f"{shape.name} has no layer that --draft-layers could be like.")
    layout = cache_layout(
        shape.layers + tuple(full[:1]) * given.draft_layers,
        block_size=given.block_size,
        kv_dtype=given.kv_dtype,
        tp=given.tp,
        pp=given.pp,
        batched_tokens=given.max_batched_tokens,
        draft_tokens=given.draft_tokens,
        prefix_caching=given.prefix_caching,
    )
    max_length = given.max_length or shape.max_length
    printed = given.kv_gib is not None
    if printed:
        figures = figures_of_gib(layout, given.kv_gib, max_length, given.workload)
        memory = f"{float(given.kv_gib):.2f} GiB"
    else:
        left = cache_bytes_left(
            shape,
            card_named(given.gpu),
            utilization=given.utilization or UTILIZATION,
            tp=given.tp,
            pp=given.pp,
            weights=given.weights,
        )
        figures = figures_of_bytes(layout, left, max_length, given.workload)
        memory = f"{left / GIB:.2f} GiB"
    said = [*shape.notes, *notes(figures, printed)]
    if given.json:
        about = {"model": shape.name, "kv_dtype": given.kv_dtype, "tp": given.tp, "pp": given.pp}
        return json.dumps(about | asdict(figures) | {"notes": said}, indent=2)
    cache = f"{memory} of {given.kv_dtype} cache"
    return "\n".join([*lines(shape, figures, cache, given.tp * given.pp, printed), *said])


def _keeps_all(layer: Layer) -> bool:
    return isinstance(layer, Attention) and layer.window is None


def _refuse_what_would_be_ignored(given: argparse.Namespace) -> None:
    if not given.config:
        raise ValueError("Give --config with a config.json or a preset; --list names the presets.")
    if (given.kv_gib is None) == (given.gpu is None):
        raise ValueError("Give either --kv-gib, as a server prints it, or --gpu.")
    for name in ("utilization", "weights", "parameters"):
        if given.gpu is None and getattr(given, name) is not None:
            raise ValueError(f"--{name} counts only with --gpu: leave it out, or give that.")


def model_named(name: str) -> Shape:
    """Return a preset by its name, or what a ``config.json`` (or its folder) describes.

    Raises ``ValueError`` for neither, and for a file that cannot be read.
    """
    for key, preset in MODELS.items():
        if _plain(name) in (_plain(key), _plain(preset.title)):
            return preset.shape
    path = Path(name)
    try:
        if path.is_dir():
            path = path / "config.json"
        # What is no plain file might never end.
        text = None
        if path.is_file():
            with path.open("rb") as file:
                text = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError):  # the latter for names that no file can have
        text = None
    if text is None:
        raise ValueError(
            f"{name!r} is neither a file that can be read nor a preset: choose one of "
            f"{', '.join(MODELS)}."
        )
    if len(text) > _MOST_BYTES:
        raise ValueError(f"{name!r} is too large for a config.json (more than 4 MiB).")
    return read_config(text, path.name)


def card_named(name: str) -> Card:
    """Return a GPU by its name, or raise ``ValueError`` that names all."""
    for key, card in CARDS.items():
        if _plain(name) in (_plain(key), _plain(card.gpu.name)):
            return card
    raise ValueError(f"{name!r} is no GPU that is known: choose one of {', '.join(CARDS)}.")


def _plain(name: str) -> str:
    return re.sub("[^a-z0-9.]", "", name.lower())


def _number(text: str, what: str, most: int) -> Fraction:
    """Read a decimal number above 0 exactly."""
    if not re.fullmatch(r"[0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20}", text, re.ASCII) or not (
        0 < Fraction(text.rstrip(".")) <= most
    ):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no {what}: give a number above 0 and up to {most:,}"
        )
    return Fraction(text.rstrip("."))


def _gib(text: str) -> Fraction:
    return _number(text, "size in GiB", 10**6)


def _share(text: str) -> float:
    return float(_number(text, "share of the memory", 1))


def _billions(text: str) -> float:
    return float(_number(text, "number of billions", 10**6))
