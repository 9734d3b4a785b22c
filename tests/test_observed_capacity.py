"""What real servers printed of their caches is what the formulas give, row by row.

``data/observed_capacity.csv`` was collected from public logs of vLLM, SGLang, TensorRT-LLM and
others: each row names the repository it is from, and the model's shape.
"""

import csv
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from kvsim.__main__ import main
from kvsim.deployment.cache_layout import GIB, cache_layout, printed_interval
from kvsim.deployment.config_json import read_config

TABLE = Path(__file__).parent / "data" / "observed_capacity.csv"
with TABLE.open(newline="") as table:
    ROWS = {row["case"]: row for row in csv.DictReader(table)}

# What is not reproduced, and why. Each reason is tested below.
ELSEWHERE = {
    "C010": "not the pool of a stage, but a check that charges all layers of both to the smallest",
    "C070": "the GiB are those of one rank, the blocks those of another with less memory",
}
REPRODUCED = sorted(ROWS.keys() - ELSEWHERE)

# SGLang prints the memory of keys and that of values, which are equal; the table has the keys'.
KEYS_ALONE = {"C076", "C077", "C082", "C083"}

# Gated delta-net layers: heads of values, by the model's name in the table. All have 16 heads of
# keys, 128 elements a head and a convolution over 4 tokens; Qwen3-Next ran with states in float16
# and the others keep them in float32. The blocks that the servers printed pin them.
VALUE_HEADS = {
    "27B": 48,
    "35B-A3B": 32,
    "122B-A10B": 64,
    "2B class": 16,
    "Qwen3-Next-80B-A3B": 32,
}


def number(row, column):
    return Fraction(row[column]) if row[column] else None


def heads(row):
    """Key and value heads and their size: of most layers, and of global ones if they differ."""
    kv_heads = [int(each) for each in re.findall(r"\d+", row["num_kv_heads"])]
    head_dims = [int(each) for each in re.findall(r"\d+", row["head_dim"])]
    return kv_heads, head_dims


def config_of(row):
    """The ``config.json`` that a row stands for."""
    layers = int(row["num_hidden_layers"])
    config = {"num_hidden_layers": layers}
    if row["kv_lora_rank"]:
        return config | {
            "kv_lora_rank": int(row["kv_lora_rank"]),
            "qk_rope_head_dim": int(row["qk_rope_head_dim"]),
        }
    kv_heads, head_dims = heads(row)
    config |= {"num_key_value_heads": kv_heads[0], "head_dim": head_dims[0]}
    if kv_heads[1:]:
        config |= {"num_global_key_value_heads": kv_heads[1], "global_head_dim": head_dims[1]}
    if row["sliding_window"]:
        config["sliding_window"] = int(row["sliding_window"])
    full, others = counts(row)
    if row["layout"] == "one group":
        # SGLang keeps linear states in a pool of their own.
        return config | {"num_hidden_layers": full}
    other = "sliding_attention" if row["sliding_window"] else "linear_attention"
    config["layer_types"] = ["full_attention"] * full + [other] * others
    if other == "linear_attention":
        config |= linear(row)
    return config


def counts(row):
    found = re.match(r"(\d+) (?:full|global)(?: attention)? \+ (\d+)", row["layer_layout"])
    return map(int, found.groups()) if found else (int(row["num_hidden_layers"]), 0)


def linear(row):
    (heads,) = {value for name, value in VALUE_HEADS.items() if name in row["model"]}
    return {
        "linear_num_value_heads": heads,
        "linear_num_key_heads": 16,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
        "mamba_ssm_dtype": "float16" if "Qwen3-Next" in row["model"] else "float32",
    }


def layout_of(row, **changed):
    shape = read_config(config_of(row))
    states = re.search(r"(\d) state block", row["layer_layout"])
    states = int(states[1]) if states else 1
    drafting = "MTP" in row["layer_layout"]
    batched = re.search(r"max_num_batched_tokens (\d+)", row["notes"])
    options = {
        # Blocks raised to hold a state must come out, so they are not given.
        "block_size": None if "gated-delta" in row["layer_layout"] else int(row["block_size"]),
        "kv_dtype": "fp8" if row["kv_dtype"].startswith("fp8") else "bf16",
        "tp": int(row["tp"]),
        "pp": int(row["pp"]),
        "batched_tokens": int(batched[1]) if batched else 2048,
        "draft_tokens": states - 2 if drafting else 0,
        "prefix_caching": states > 1,
    }
    full = [layer for layer in shape.layers if getattr(layer, "window", None) is None][:1]
    return cache_layout(shape.layers + tuple(full) * drafting, **options | changed)


def possible_blocks(row, layout):
    """The numbers of blocks that the printed GiB allow."""
    gib = number(row, "kv_gib_printed")
    if gib is None:
        return None
    low, high = printed_interval(gib)
    times = 2 if row["case"] in KEYS_ALONE else 1
    return range(layout.blocks(times * low), layout.blocks(times * high) + 1)


def of_layout(layout):
    return [case for case in REPRODUCED if ROWS[case]["layout"] == layout]


def rounds_to(value, printed):
    return printed is None or abs(Fraction(value) - printed) <= Fraction(1, 200)


def test_every_row_is_either_reproduced_or_said_not_to_be():
    assert len(ROWS) == 79
    assert set(REPRODUCED) | set(ELSEWHERE) == set(ROWS)
    assert set(REPRODUCED).isdisjoint(ELSEWHERE)
    mismatches = {case for case, row in ROWS.items() if not row["verdict"].startswith("match")}
    assert mismatches <= set(ELSEWHERE)


@pytest.mark.parametrize("case", of_layout("one group"))
def test_one_group(case):
    row = ROWS[case]
    layout = layout_of(row)
    block, length = layout.block_size, number(row, "max_model_len")
    assert block == int(row["block_size"])
    possible = possible_blocks(row, layout)
    printed = number(row, "gpu_blocks_printed")
    tokens = number(row, "tokens_printed")
    if tokens is not None:
        assert tokens % block == 0
        assert printed in (None, tokens // block)
        printed = tokens // block
        assert layout.tokens(printed) == tokens
    if possible is not None and printed is not None:
        assert possible[0] <= printed <= possible[-1]
    concurrency = number(row, "max_concurrency_printed")
    if concurrency is not None:
        assert any(
            rounds_to(layout.concurrency(blocks, int(length)), concurrency)
            for blocks in ([int(printed)] if printed is not None else possible)
        )
    swap, on_host = number(row, "swap_gib"), number(row, "cpu_blocks_printed")
    if on_host is not None:
        assert layout.blocks(swap * GIB) == on_host
    assert possible or on_host, "nothing of this row was compared"


@pytest.mark.parametrize("case", of_layout("several groups"))
def test_several_groups(case):
    """Some number of blocks within the printed GiB gives every figure that was printed."""
    row = ROWS[case]
    layout = layout_of(row)
    assert layout.block_size == int(row["block_size"])
    assert not layout.of_one_group
    possible = possible_blocks(row, layout)
    said = re.search(r"num_blocks=(\d+)(?:\.\.(\d+))?", row["notes"])
    first, last = int(said[1]), int(said[2] or said[1])
    if possible is None:
        possible = range(first, last + 1)
    assert [b for b in possible if first <= b <= last and agrees(row, layout, b)]


def agrees(row, layout, blocks):
    length = row["max_model_len"] and int(row["max_model_len"])
    concurrency = number(row, "max_concurrency_printed")
    if concurrency is not None and not rounds_to(layout.concurrency(blocks, length), concurrency):
        return False
    tokens = number(row, "tokens_printed")
    # Older servers print what every group holds, newer ones what the concurrency amounts to.
    older = layout.tokens(blocks)
    newer = layout.reported_tokens(blocks, length) if length else older
    return tokens in (None, older, newer)


@pytest.mark.parametrize(
    "case", [case for case in REPRODUCED if ROWS[case]["kv_gib_printed"] and case not in KEYS_ALONE]
)
def test_the_command_line_says_so_too(case, tmp_path, capsys):
    row = ROWS[case]
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"text_config": config_of(row)}))
    layout = layout_of(row)
    length = row["max_model_len"]
    arguments = [
        *("--config", path, "--kv-gib", row["kv_gib_printed"], "--block-size", row["block_size"]),
        *("--kv-dtype", "fp8" if row["kv_dtype"].startswith("fp8") else "bf16"),
        *("--tp", row["tp"], "--pp", row["pp"], "--max-batched-tokens", layout.batched_tokens),
        *(("--max-length", length) if length else ()),
        *(("--prefix-caching",) if layout.state_blocks > 1 else ()),
    ]
    if "MTP" in row["layer_layout"]:
        arguments += ["--draft-layers", 1, "--draft-tokens", layout.state_blocks - 2]
    assert main(["capacity", "--json", *map(str, arguments)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bytes_per_token"] == layout.bytes_per_token
    tokens, concurrency = row["tokens_printed"], number(row, "max_concurrency_printed")
    if tokens and row["layout"] == "one group":
        assert found["tokens_low"] <= int(tokens) <= found["tokens_high"]
    if concurrency is not None:
        one_block = 1 / layout.blocks_per_request(int(length))
        off = (found["blocks_high"] - found["blocks_low"]) * one_block + 0.005
        assert found["max_concurrency"] == pytest.approx(float(concurrency), abs=off)


def test_elsewhere_the_check_charges_all_layers():
    """C010: the printed maximum is that of one stage holding both stages' layers."""
    row = ROWS["C010"]
    charged, stage = layout_of(row, pp=1), layout_of(row)
    low, high = printed_interval(number(row, "kv_gib_printed"))
    printed = number(row, "tokens_printed")
    assert charged.tokens(charged.blocks(low)) <= printed <= charged.tokens(charged.blocks(high))
    assert stage.bytes_per_token * 2 == charged.bytes_per_token
    assert stage.tokens(stage.blocks(low)) > 1.9 * printed


def test_elsewhere_another_ranks_blocks_are_fewer():
    """C070: the blocks have the size that the host's show, and less memory than was printed."""
    row = ROWS["C070"]
    layout = layout_of(row)
    assert layout.blocks(number(row, "swap_gib") * GIB) == number(row, "cpu_blocks_printed")
    blocks = number(row, "gpu_blocks_printed")
    assert layout.tokens(int(blocks)) == number(row, "tokens_printed")
    assert blocks < possible_blocks(row, layout)[0]


def test_a_padding_slot_stands_beside_the_tokens():
    """C079: SGLang printed the exact bytes, one slot more than the tokens that it can use."""
    layout = layout_of(ROWS["C079"])
    assert layout.blocks(10_737_303_552) == number(ROWS["C079"], "tokens_printed") + 1
    assert 10_737_303_552 % layout.block_bytes == 0
