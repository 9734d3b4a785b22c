"""The paper's figures and the simulation's, side by side, for a terminal."""

from collections.abc import Iterator
from typing import Any

from kvsim import published

_NAMES = {
    "max": "Orca (Max)",
    "pow2": "Orca (Pow2)",
    "oracle": "Orca (Oracle)",
    "paged": "vLLM",
    "first-fit": "first-fit Oracle",
}
_SHARES = {
    "token_states": "token states",
    "reserved": "reserved",
    "internal": "internal",
    "rest": "the rest",
}


def text(result: dict[str, Any]) -> str:
    """Put what :func:`kvsim.paper.reproduce` returned into words and tables."""
    sections = (_figure_2, _rest, _table_1, _figure_13b, _section_6_2, _block_sizes)
    return "\n\n".join("\n".join(section(result)) for section in sections)


def _figure_2(result: dict[str, Any]) -> Iterator[str]:
    yield (
        f"Figure 2: use of the KV cache, % of 15,744 slots. OPT-13B, ShareGPT, saturated; mean of "
        f"{result['seeds']} seeds"
    )
    yield "(least to greatest). Mean batch: figure 13a, at 2 requests/s."
    yield f"{'':18}{'':14}{'published':>10}{'simulated':>11}{'spread':>18}"
    beyond = False
    for row in result["figure_2"]:
        tolerance = published.FIGURE_2_TOLERANCE[row["system"]]
        for column, label in (*_SHARES.items(), ("batch", "mean batch")):
            found, stated = row[column], row["published"][column]
            far = column in _SHARES and abs(found - stated) > tolerance
            beyond |= far
            low, high = row["spread"][column]
            name = _NAMES[row["system"]] if column == "token_states" else ""
            yield (
                f"{name:18}{label:14}{stated:10.2f}{found:11.2f}{low:10.2f} -{high:6.2f}"
                f"{f'  more than {tolerance} points away' if far else ''}"
            )
    if beyond:
        yield (
            "What is away: the paper measured one sample of requests. By its shares and batches a\n"
            "running request of Pow2 held 430 tokens, and one of Oracle 441, where the whole table\n"
            "of lengths gives 459, as here. So more tokens and less rest are to be expected here."
        )
    yield (
        "The mean batch of vLLM is lower here: at 2 requests/s the measured server is saturated\n"
        "(its latency passes 0.5 s a token at 1.93). The simulated one, whose prefills hide behind\n"
        "the reading of the weights and which takes no time to schedule, is not yet."
    )


def _rest(result: dict[str, Any]) -> Iterator[str]:
    first_fit = result["first_fit"]
    yield "What the rest is made of, % (the paper: external fragmentation and others)"
    yield f"{'':18}{'unfilled':>10}{'rounding':>10}{'external':>10}{'free':>10}{'all':>10}"
    for row in (*result["figure_2"], first_fit):
        parts = "".join(f"{value:10.2f}" for value in row["parts_of_rest"].values())
        yield f"{_NAMES[row['system']]:18}{parts}{row['rest']:10.2f}"
    yield (
        "Most of Orca's rest is the buddy allocator's rounding to powers of two, a choice made for\n"
        "the baseline, and not external fragmentation. Placed first-fit instead, the oracle's requests\n"
        f"reach {first_fit['token_states']:.1f} % token states and a batch of "
        f"{first_fit['batch']:.1f} (an independent program: "
        f"{first_fit['expected']['token_states']} % and {first_fit['expected']['batch']})."
    )


def _table_1(result: dict[str, Any]) -> Iterator[str]:
    yield "Table 1: most KV slots"
    for row in result["table_1"]:
        yield (f"{row['model']:18}{row['cache_gib']:4} GiB{row['published']:13,}{row['slots']:11,}")
    yield "(published, simulated). 9.7K would take 21.3 GiB: the paper's 21 GB are rounded."


def _figure_13b(result: dict[str, Any]) -> Iterator[str]:
    yield "Figure 13b: mean batch, Alpaca at 30 requests/s"
    yield from _rows(result["figure_13b"], "batch")
    prompt, output = published.ALPACA_MEAN_TOKENS
    yield (
        f"Of Alpaca only the mean lengths are known here ({prompt} and {output} tokens): they are\n"
        "assumed to be exponential. With Oracle the simulated server keeps up with 30 requests/s, so\n"
        "its batch is what the load asks for, not what the cache holds; the measured one was slower."
    )


def _section_6_2(result: dict[str, Any]) -> Iterator[str]:
    section = result["section_6_2"]
    yield (
        "Section 6.2: requests/s at a normalized latency of "
        f"{section['latency_s_per_token']} s a token, ShareGPT for 900 s"
    )
    yield from _rows(section["rates"], "requests_per_s")
    for row in section["paged_over"]:
        low, high = row["published_range"]
        yield (
            f"vLLM / {_NAMES[row['system']]:18}published {low} to {high}, of these rates "
            f"{row['published']:.2f}; simulated {row['ratio']:.2f}"
        )
    yield (
        "All simulated rates are higher: a roofline has no scheduler, no sampler and no gaps between\n"
        "kernels. The ratios depend on that less."
    )


def _block_sizes(result: dict[str, Any]) -> Iterator[str]:
    yield "Paged: token states by block size, % (expected: an independent run of the same rules)"
    yield f"{'':32}{'expected':>10}{'simulated':>11}{'spread':>18}"
    for row in result["block_sizes"]:
        low, high = row["spread"]
        yield (
            f"{row['block_size']:18}{'':14}{row['expected']:10.2f}{row['token_states']:11.2f}"
            f"{low:10.2f} -{high:6.2f}"
        )


def _rows(rows: list[dict[str, Any]], name: str) -> Iterator[str]:
    yield f"{'':32}{'published':>10}{'simulated':>11}{'spread':>18}"
    for row in rows:
        low, high = row["spread"]
        yield (
            f"{_NAMES[row['system']]:32}{row['published']:10.2f}{row[name]:11.2f}"
            f"{low:10.2f} -{high:6.2f}"
        )
