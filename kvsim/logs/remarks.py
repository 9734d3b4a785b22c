"""What the lines of a pasted log mean and what they do not, in sentences that apply to it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kvsim.deployment.cache_layout import GIB
from kvsim.logs.capacity import block_size, several_groups
from kvsim.logs.runs import Run
from kvsim.logs.server_log import ServerLog

# How the reading went, then what the figures mean; a page may show them in this order.
TEMPLATES = {
    "nothing": "No line here says how large a cache is: paste the lines of a server's start-up, "
    "such as “GPU KV cache size: …”.",
    "runs": "The paste holds {runs} starts of a server: the last one is used, whose lines begin "
    "at {line}.",
    "unfinished": "The last start in the paste did not get as far as its cache: the one before "
    "it is used.",
    "workers": "{workers} workers print different figures ({what}, {least:,} to {most:,}): the "
    "smallest decides, since a request needs a place on every GPU that serves it.",
    "copies": "{copies} copies of the model run side by side, each with a cache of its own: the "
    "figures are those of the smallest.",
    "pools": "Each GPU allocates {pools} caches, for a draft model or for another kind of layer: "
    "their sizes are added up, and the tokens are those of the first.",
    "disagree": "{blocks:,} blocks of {block_size:,} tokens do not make {tokens:,} tokens: the "
    "tokens are used, as the engine states them.",
    "block_default": "No line gives the block size: {block_size} is assumed, which is the "
    "default of {engine}.",
    "block_derived": "No line gives the block size: {block_size} follows from the other figures.",
    "no_room": "Nothing is left for the cache beside the weights and the working memory: the "
    "server cannot start like this.",
    "refused": "The server refused to start: one request of {max_length:,} tokens would not fit.",
    "tokens": "{tokens:,} tokens is what all running requests hold together, prompts and outputs "
    "alike.",
    "gib": "{gib} GiB, in units of 2³⁰ bytes, is rounded: the cache has {low:,.0f} to {high:,.0f} "
    "bytes on a GPU.",
    "bytes": "The cache has {bytes:,} bytes on a GPU.",
    "groups": "Layers of several kinds share this cache, so {tokens:,} tokens is no capacity: "
    "only the maximum concurrency says what fits.",
    "state": "Layers of another kind have a pool of their own beside this cache, which may be "
    "full first.",
    "concurrency": "Maximum concurrency {concurrency:,} is no limit: it counts requests of "
    "{max_length:,} tokens, and of shorter ones more fit.",
    "admission": "Nothing reserves {max_length:,} tokens when a request is admitted: it takes "
    "memory for its prompt, and more as its output grows.",
    "limit": "{max_num_seqs:,} requests run at once at most, whatever would fit: that is the "
    "limit.",
    "per_gpu": "The sizes are those of one of {gpus} GPUs: each holds its part of every token, so "
    "the tokens are not to be multiplied.",
    "profiling": "A longer maximum length leaves less room only because the server measures its "
    "working memory with longer prompts: it reserves nothing.",
    "profiled": "With a maximum length of {max_length:,} in place of {max_length_before:,} the "
    "cache has {tokens:,} in place of {tokens_before:,} tokens: the server has measured its "
    "working memory with other prompts, and reserves nothing.",
    "pinned": "The size of the cache was set by hand: no maximum length changes it.",
    "block": "With blocks of {block_size:,} tokens a request leaves at most {unused:,} of its "
    "last block unused: nothing else about what fits depends on their size.",
    "page": "With pages of one token no request leaves memory unused.",
    "swap": "{cpu_blocks:,} CPU blocks are room for requests that are moved out, and no part of "
    "the cache.",
}
_COPY = re.compile(r"(?:EngineCore_(?:DP)?|(?<![A-Z])DP)(\d+)")


@dataclass(frozen=True)
class Remark:
    """A sentence about a log, as the name of a template and its values."""

    name: str
    values: Mapping[str, int | float | str] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The template with the values in it."""
        return TEMPLATES[self.name].format(**self.values)


def remarks(log: ServerLog) -> list[Remark]:
    """Return the remarks that apply to a log, those on how it was read first."""
    if not log.run.made_a_cache:
        return [Remark("nothing")]
    return [*_reading(log), *_meaning(log)]


def _reading(log: ServerLog) -> Iterator[Remark]:
    made = [run for run in log.runs if run.made_a_cache]
    if len(made) > 1:
        yield Remark("runs", {"runs": len(made), "line": log.run.events[0].line})
    if log.run is not log.runs[-1]:
        yield Remark("unfinished")
    copies = _copies(log.run)
    if copies > 1:
        yield Remark("copies", {"copies": copies})
    for name, what in (("cache_gib", "GiB"), ("tokens", "tokens"), ("blocks", "blocks")):
        spread = log.run.spread(name)
        if spread and spread[0].value != spread[-1].value and copies == 1:
            least, most = spread[0].number, spread[-1].number
            yield Remark(
                "workers", {"workers": len(spread), "what": what, "least": least, "most": most}
            )
    if log.run.pools > 1:
        yield Remark("pools", {"pools": log.run.pools})
    tokens, blocks, block = log.whole("tokens"), log.whole("blocks"), block_size(log)
    if block and block.source == "default":
        yield Remark("block_default", {"block_size": block.tokens, "engine": log.engine})
    if block and block.source == "figures":
        yield Remark("block_derived", {"block_size": block.tokens})
    if tokens and blocks and block and tokens != blocks * block.tokens and not several_groups(log):
        yield Remark("disagree", {"blocks": blocks, "block_size": block.tokens, "tokens": tokens})


def _copies(run: Run) -> int:
    """Count the engines of a data-parallel server, which number themselves."""
    named = (_COPY.search(event.worker) for event in run.events)
    return max(len({name[1] for name in named if name}), 1)


def _meaning(log: ServerLog) -> Iterator[Remark]:
    tokens, longest, block = log.whole("tokens"), log.whole("max_length"), block_size(log)
    gib, blocks = log.figures.get("cache_gib"), log.whole("blocks")
    if (gib and gib.number <= 0) or blocks == 0 or tokens == 0:
        yield Remark("no_room")
    elif log.run.has("refused_tokens", "refused_gib") and longest:
        yield Remark("refused", {"max_length": longest})
    if several_groups(log):
        if tokens:
            yield Remark("groups", {"tokens": tokens})
    elif tokens:
        yield Remark("tokens", {"tokens": tokens})
    if log.engine != "vLLM" and log.run.has("hybrid"):
        yield Remark("state")
    if gib and gib.number > 0 and gib.half == 0:
        yield Remark("bytes", {"bytes": round(gib.number * GIB)})
    elif gib and gib.number > 0:
        low, high = ((gib.number + off) * GIB for off in (-gib.half, gib.half))
        yield Remark("gib", {"gib": gib.number, "low": low, "high": high})
    concurrency = log.figures.get("max_concurrency")
    if concurrency and longest:
        yield Remark("concurrency", {"concurrency": concurrency.number, "max_length": longest})
    if longest:
        yield Remark("admission", {"max_length": longest})
    limit = log.whole("max_num_seqs")
    if limit:
        yield Remark("limit", {"max_num_seqs": limit})
    if log.gpus > 1:
        yield Remark("per_gpu", {"gpus": log.gpus})
    if log.run.has("pinned"):
        yield Remark("pinned")
    elif log.engine == "vLLM" and longest:
        yield _compared(log) or Remark("profiling")
    if block and block.tokens > 1:
        yield Remark("block", {"block_size": block.tokens, "unused": block.tokens - 1})
    elif block:
        yield Remark("page")
    cpu_blocks = log.whole("cpu_blocks")
    if cpu_blocks:
        yield Remark("swap", {"cpu_blocks": cpu_blocks})


def _compared(log: ServerLog) -> Remark | None:
    """Compare two starts in one paste that differ in the maximum length."""
    earlier = [run for run in log.runs if run.made_a_cache and run is not log.run]
    if not earlier:
        return None
    then, now = (_length_and_tokens(run) for run in (earlier[-1], log.run))
    if None in (*then, *now) or then[0] == now[0] or then[1] == now[1]:
        return None
    values = {"max_length": now[0], "max_length_before": then[0]}
    values |= {"tokens": now[1], "tokens_before": then[1]}
    return Remark("profiled", {name: value for name, value in values.items() if value is not None})


def _length_and_tokens(run: Run) -> tuple[int | None, int | None]:
    log = ServerLog((run,), ())
    tokens, blocks, block = log.whole("tokens"), log.whole("blocks"), block_size(log)
    if tokens is None and blocks and block:
        tokens = blocks * block.tokens
    return log.whole("max_length"), tokens
