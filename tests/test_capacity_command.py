"""``kvsim capacity``: what it prints, and what it refuses."""

import json
import re
import subprocess
import sys

import pytest

from kvsim.__main__ import main
from kvsim.deployment.cards import CARDS
from kvsim.deployment.presets import MODELS
from kvsim_app.__main__ import main as app_main


def run(capsys, *arguments, of=main):
    status = of(["capacity", *arguments])
    said = capsys.readouterr()
    assert (status == 0) == (said.err == "")
    assert (status == 0) == (said.out != "")
    return said.out if status == 0 else said.err


def as_json(capsys, *arguments):
    return json.loads(run(capsys, *arguments, "--json"))


@pytest.fixture
def config(tmp_path):
    """Write a config.json, and say where."""

    def write(content):
        path = tmp_path / "config.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write


def test_a_server_that_printed_its_cache(capsys):
    """Llama 3.1 8B: vLLM printed 3.81 GiB, 1,952 blocks, 31,232 tokens, and 1.56 requests."""
    arguments = ("--config", "llama-3-8b", "--kv-gib", "3.81", "--max-length", "20000")
    found = as_json(capsys, *arguments)
    assert found["bytes_per_token"] == 131_072
    assert found["blocks_low"] <= 1952 <= found["blocks_high"]
    assert found["tokens_low"] <= 31_232 <= found["tokens_high"]
    assert found["blocks"] * 16 == found["tokens"]
    assert round(found["max_concurrency"], 2) == 1.56
    assert found["notes"] == []


def test_the_same_in_words(capsys):
    arguments = ("--config", "Llama 3 8B", "--kv-gib", "3.81", "--max-length", "20000")
    assert run(capsys, *arguments).splitlines() == [
        "Llama 3 8B: 32 layers with 8 key and value heads of 128; 3.81 GiB of bf16 cache on one "
        "GPU",
        "Bytes per token      131,072",
        "Blocks               1,950 of 16 tokens",
        "Tokens               31,200 (31,168 to 31,248 for a figure of two decimals)",
        "Maximum concurrency  1.56 requests of 20,000 tokens",
        "Requests that fit    24 of the exponential workload (a running one holds 1,279 tokens on "
        "average)",
    ]


def test_both_commands_say_the_same(capsys):
    arguments = ("--config", "phi-4", "--gpu", "h100")
    assert run(capsys, *arguments) == run(capsys, *arguments, of=app_main)


def test_it_runs_as_a_module():
    run = subprocess.run(
        [sys.executable, "-m", "kvsim", "capacity", "--config", "phi-4", "--kv-gib=1", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(run.stdout)["bytes_per_token"] == 204_800


def test_a_file_and_its_folder(capsys, config, tmp_path):
    path = config({"num_hidden_layers": 2, "num_key_value_heads": 4, "head_dim": 64})
    found = as_json(capsys, "--config", path, "--kv-gib", "1")
    assert found["bytes_per_token"] == 2 * 2 * 4 * 64 * 2
    assert found["max_concurrency"] is None
    assert "give --max-length" in found["notes"][0]
    assert as_json(capsys, "--config", str(tmp_path), "--kv-gib", "1") == found


def test_every_option_reaches_the_figures(capsys):
    arguments = ("--config", "llama-3-8b", "--kv-gib", "8")
    plain = as_json(capsys, *arguments)
    assert as_json(capsys, *arguments, "--kv-dtype", "fp8")["tokens"] == 2 * plain["tokens"]
    assert as_json(capsys, *arguments, "--tp", "2")["tokens"] == 2 * plain["tokens"]
    assert as_json(capsys, *arguments, "--pp", "2")["tokens"] == 2 * plain["tokens"]
    assert as_json(capsys, *arguments, "--block-size", "32")["blocks"] * 2 == plain["blocks"]
    assert as_json(capsys, *arguments, "--draft-layers", "32")["tokens"] * 2 == plain["tokens"]
    code = as_json(capsys, *arguments, "--workload", "azure-code")
    assert code["workload"] == "azure-code"
    assert code["requests_at_once"] != plain["requests_at_once"]


def test_options_of_several_groups(capsys, config):
    linear = {
        "num_hidden_layers": 64,
        "num_attention_heads": 24,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "full_attention_interval": 4,
        "linear_num_value_heads": 48,
        "linear_num_key_heads": 16,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
        "mamba_ssm_dtype": "float32",
    }
    # Qwen3.6 27B on two GPUs: vLLM printed 11.05 GiB, 623,873 tokens and 2.38 requests.
    found = as_json(
        capsys,
        *("--config", config({"text_config": linear}), "--kv-gib", "11.05", "--tp", "2"),
        *("--kv-dtype", "fp8", "--max-length", "262144", "--draft-tokens", "3"),
        *("--draft-layers", "1", "--prefix-caching"),
    )
    assert found["block_size"] == 1600
    assert found["blocks_low"] <= 426 <= found["blocks_high"]
    assert round(found["max_concurrency"], 2) == pytest.approx(2.38, abs=0.011)
    narrow = ("--config", "gpt-oss-20b", "--kv-gib", "4", "--max-batched-tokens")
    assert (
        as_json(capsys, *narrow, "256")["max_concurrency"]
        > as_json(capsys, *narrow, "8192")["max_concurrency"]
    )


def test_several_groups_are_explained(capsys):
    said = run(capsys, "--config", "gpt-oss-120b", "--kv-gib", "8.99", "--max-length", "98304")
    assert "18 layers with 8 key and value heads of 64 in a window of 128" in said
    assert "2 groups, so the number of tokens is no capacity" in said
    assert "Newer servers print it times the maximum length" in said


def test_a_request_that_does_not_fit_is_said(capsys):
    """VLLM refused to start with 2.89 GiB: the longest request that fits has 23,648 tokens."""
    found = as_json(capsys, "--config", "llama-3-8b", "--kv-gib", "2.89", "--max-length", "29000")
    assert found["max_concurrency"] < 1
    assert found["tokens_low"] <= 23_648 <= found["tokens_high"]
    assert f"{found['longest_request']:,}" in found["notes"][0]


def test_a_gpu_instead_of_a_figure(capsys):
    arguments = ("--config", "llama-3-8b", "--gpu", "A100-80GB")
    found = as_json(capsys, *arguments, "--utilization", "0.9")
    assert found == as_json(capsys, *arguments)
    assert found["tokens_low"] == found["tokens"] == found["tokens_high"]
    assert "2 GiB are taken to be needed for work" in found["notes"][-1]
    assert as_json(capsys, *arguments, "--weights", "fp8")["tokens"] > found["tokens"]
    assert as_json(capsys, *arguments, "--utilization", ".8")["tokens"] < found["tokens"]


def test_parameters_may_be_given(capsys, config):
    path = config({"num_hidden_layers": 2, "num_key_value_heads": 4, "head_dim": 64})
    assert "cannot be counted" in run(capsys, "--config", path, "--gpu", "L4")
    small, large = (
        as_json(capsys, "--config", path, "--gpu", "L4", "--parameters", billions)["tokens"]
        for billions in ("1", "5")
    )
    assert (small - large) * 2 * 2 * 4 * 64 * 2 == pytest.approx(8e9, abs=1e5)


def test_all_presets_are_listed(capsys):
    said = run(capsys, "--list")
    assert all(name in said for name in (*MODELS, *CARDS))
    listed = json.loads(run(capsys, "--list", "--json"))
    assert set(listed["models"]) == set(MODELS)
    assert set(listed["gpus"]) == set(CARDS)


@pytest.mark.parametrize("model", MODELS)
def test_every_preset_answers(capsys, model):
    found = as_json(capsys, "--config", model, "--kv-gib", "40")
    needed = {"bytes_per_token", "blocks", "tokens", "tokens_low", "tokens_high"}
    assert needed | {"max_concurrency"} <= set(found)
    assert found["requests_at_once"] > 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Give --config with a config.json or a preset"),
        (("--config", ""), "Give --config with a config.json or a preset"),
        (("--config", "phi-4"), "Give either --kv-gib"),
        (("--config", "phi-4", "--kv-gib", "1", "--gpu", "H100"), "Give either --kv-gib"),
        (("--config", "phi-4", "--kv-gib", "1", "--utilization", "1"), "--utilization counts only"),
        (("--config", "phi-4", "--kv-gib", "1", "--weights", "fp8"), "--weights counts only"),
        (("--config", "phi-4", "--kv-gib", "1", "--parameters", "7"), "--parameters counts only"),
        (("--config", "phi-5", "--kv-gib", "1"), "'phi-5' is neither a file.*choose one of llama"),
        (("--config", "a\0b\n", "--kv-gib", "1"), "is neither a file"),
        (("--config", "x" * 5000, "--kv-gib", "1"), "is neither a file"),
        (("--config", "/dev/zero", "--kv-gib", "1"), "'/dev/zero' is neither a file"),
        (("--config", "phi-4", "--gpu", "H900"), "'H900' is no GPU that is known.*B200"),
        (("--config", "phi-4", "--gpu", "L4"), "Phi-4 does not fit on 1 x L4: each has"),
        (("--config", "phi-4", "--kv-gib", "1", "--tp", "4"), "tp is 4.*10 key and value heads"),
        (("--config", "qwen2.5-7b", "--kv-gib", "1", "--tp", "8"), "tp is 8.*28 attention heads"),
        (("--config", "gemma-2-9b", "--kv-gib", "1", "--pp", "2"), "pp is 2.*several kinds"),
    ],
)
def test_what_is_refused(capsys, arguments, said):
    refused = run(capsys, *arguments)
    assert re.search(said, refused)
    assert refused.count("\n") == 1
    assert refused.endswith(".\n")


@pytest.mark.parametrize(
    "content", ["", "nonsense", "[]", '{"num_hidden_layers": "2"}', "x" * 5_000_000]
)
def test_a_file_that_is_no_description_is_refused(capsys, config, content):
    refused = run(capsys, "--config", config(content), "--kv-gib", "1")
    assert "config.json" in refused
    assert refused.count("\n") == 1


@pytest.mark.parametrize(
    "argument",
    [
        *("--kv-gib=0", "--kv-gib=-1", "--kv-gib=nan", "--kv-gib=1e3", "--kv-gib=", "--kv-gib=²"),
        *("--kv-gib=1/0", "--kv-gib=" + "9" * 30, "--utilization=0", "--utilization=1.01"),
        *("--block-size=0", "--block-size=1.5", "--max-length=1", "--tp=0", "--pp=-1"),
        *("--kv-dtype=int3", "--weights=int3", "--draft-tokens=-1", "--workload=mine"),
        *("--parameters=0", "--max-length=" + "9" * 5000),
    ],
)
def test_bad_values_are_refused_with_the_usage(capsys, argument):
    with pytest.raises(SystemExit) as ended:
        main(["capacity", "--config", "phi-4", argument])
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    last = said.err.splitlines()[-1]
    assert argument.split("=")[0] in last
    assert "invalid read" not in last
