"""The lines of a server's start-up that speak of its cache, as vLLM and SGLang have printed them.

A form is a regular expression on text without white space (:mod:`kvsim.logs.text`); the spaces in
it are for reading. ``<name>`` stands for a whole number, with or without thousands separators,
``<name:figure>`` for one with decimals, ``<name:word>`` for a name. Repetitions are bounded and
hardly ever give back, so that a form takes a limited number of steps wherever it is tried.
"""

import re
from dataclasses import dataclass
from typing import Literal

_WHOLE = r"(?P<{}>[0-9]{{1,3}}+(?:,[0-9]{{3}}){{1,5}}+(?![0-9])|[0-9]{{1,18}}+(?![0-9]))"
_FIGURE = r"(?P<{}>-?[0-9]{{1,9}}+(?:\.[0-9]{{1,12}}+)?+(?![0-9]))"
_UNIT = "Gi?B"
_KINDS = {
    "": _WHOLE,
    ":figure": _FIGURE,
    ":GiB": _FIGURE + _UNIT,
    ":word": r"(?P<{}>[\w./~:@+\-]{{1,300}}+)",
    ":quoted": r"(?P<{}>[^'\"\n,(){{}}]{{1,300}}+)",
    ":version": r"v?(?P<{}>[0-9]{{1,3}}+\.[0-9]{{1,4}}+(?:\.[0-9]{{1,4}}+)?+"
    r"(?:\.?(?:rc|post|dev)[0-9]{{1,6}}+){{0,3}}+)",
    ":dtype": r"(?:torch\.)?(?P<{}>auto|bfloat16|float16|half|float8_e[0-9]m[0-9](?:fn(?:uz)?)?"
    r"|fp8(?:_e[0-9]m[0-9])?(?:_ds_mla)?|nvfp4|int8|uint8)",
}

# What a setting is called, by its form.
SETTINGS = {
    "set_length": "max[_-](?:model|seq)[_-]len",
    "set_block": "(?:block|page)[_-]size",
    "set_tp": "(?:tensor[_-]parallel(?:[_-]size)?|tp(?:[_-]size)?)",
    "set_pp": "(?:pipeline[_-]parallel(?:[_-]size)?|pp(?:[_-]size)?)",
    "set_dtype": "kv[_-]cache[_-]dtype",
    "set_seqs": "max[_-]num[_-]seqs",
}

# A line that begins with one of these is no wrapped end of the line before.
KEYS = (
    *SETTINGS.values(),
    *("num_gpu_blocks", "max_total_num_tokens", "max_running_requests"),
    *("context_len(?:gth)?", "model(?:_path)?"),
)

Role = Literal["start", "profile", "engine", "setting", "other"]


@dataclass(frozen=True)
class Form:
    """One kind of line.

    ``role`` says when it is printed: at a ``start``, when the memory was measured (``profile``),
    once the cache is made (``engine``), or with the settings. A line that is recognised and says
    nothing about the size of the cache is of role ``other``.
    """

    name: str
    role: Role
    engine: str  # empty if several print it
    pattern: re.Pattern[str]


def _forms(role: Role, engine: str, **texts: str) -> tuple[Form, ...]:
    return tuple(Form(name, role, engine, _pattern(text)) for name, text in texts.items())


def _setting(name: str, engine: str, value: str) -> Form:
    """Form of a setting as it is dumped, {'tp_size': 2}, or given, --tp-size 2."""
    key = SETTINGS[name]
    text = rf"(?:--{key} =? | (?<![\w.\-]) ['\"]? {key} ['\"]? [=:] ['\"]?) {value}"
    return Form(name, "setting", engine, _pattern(text))


def _pattern(text: str) -> re.Pattern[str]:
    text = text.replace(" ", "")
    filled = re.sub(r"(?<!\?P)<(\w+)(:\w+)?>", lambda m: _KINDS[m[2] or ""].format(m[1]), text)
    return re.compile(filled, re.IGNORECASE)


# Where the wordings are from: vLLM's repository (pull requests 10511, 12569, 13596; issues 2136,
# 2418, 8185, 10517, 21348, 24577, 34076, 40691, 54662), its source, and logs that users published;
# SGLang's memory pool and scheduler (issue 29575, pull requests 9842 and 29853); TensorRT-LLM's
# logs. A GB of theirs is 2**30 bytes, as a GiB is.
FORMS = (
    *_forms(
        "start",
        "vLLM",
        vllm_server=r"vLLM API server version <version:version>",
        vllm_banner=r"█ version <version:version>",
        vllm_engine=r"Initializing an? (?P<v1>V1)? LLM engine (?:\(<version:version>)?",
    ),
    *_forms("start", "SGLang", sglang_args=r"server_args=ServerArgs\("),
    *_forms(
        "profile",
        "vLLM",
        # V0: from 0.6.6 on, a line of each worker; in 0.6.4; in 0.6.5, from a table.
        rest=r"the rest of the memory reserved for KV Cache is <gib:GiB>",
        profiled=r"kv_cache_size= <gib:GiB>",
        tabled=r"available_kv_cache_memory <gib:GiB>",
        # V1.
        available=r"Available KV cache memory: <gib:GiB>",
        pinned=r"reserved <gib:GiB> (?:memory)? for KV Cache as specified by kv_cache_memory_bytes",
    ),
    *_forms(
        "engine",
        "vLLM",
        blocks=r"(?:GPU|CUDA|ROCM|HPU|XPU|NPU|TPU) blocks: <blocks>"
        r" (?:, #? CPU blocks: <cpu_blocks>)?",
        allocates=r"can allocate <blocks> GPU blocks (?:, <cpu_blocks> CPU blocks)?",
        tokens=r"[GC]PU KV cache size: <tokens> tokens",
        concurrency=r"Maximum concurrency for <max_length> tokens per request:"
        r" <concurrency:figure> x",
        # It refuses to start: V0, then V1.
        refused_tokens=r"max seq len \(<max_length>\) is larger than the maximum number of tokens"
        r" that can be stored in KV cache \(<tokens>\)",
        refused_gib=r"max seq len \(<max_length>\), \(? <needed:GiB> KV cache is needed, which is"
        r" larger than the available KV cache memory \(<gib:GiB>\)",
    ),
    *_forms(
        "setting",
        "vLLM",
        override=r"Overriding num_gpu_blocks=[0-9]{1,18}+ with num_gpu_blocks_override= <override>",
        num_blocks=r"(?<![a-z_]) num_gpu_blocks ['\"]? (?:is)? [=:]?+ ['\"]? <blocks>",
        max_length=r"Using max model len <max_length>",
        # After the graphs are captured; in bytes at first.
        in_use=r"Current kv cache memory in use is <gib:GiB>",
        in_use_bytes=r"Current kv cache memory in use is <cache_bytes> bytes",
        hybrid_block=r"Setting attention block size to <hybrid_block> tokens",
    ),
    # "KV size" where keys and values are one latent vector; K and V apart otherwise.
    *_forms(
        "profile",
        "SGLang",
        pool=r"KV Cache is allocated\. (?:dtype: <kv_dtype:dtype>,)?+ #tokens: <tokens>"
        r"(?:, K size: <k_gib:GiB>, V size: <v_gib:GiB> |, KV size: <gib:GiB>)?+",
    ),
    *_forms("engine", "SGLang", total=r"(?<![a-z_]) max_total_num_tokens ['\"]? [=:] <tokens>"),
    *_forms(
        "setting",
        "SGLang",
        running=r"(?<![a-z_]) max_running_requests ['\"]? [=:] <max_num_seqs>",
        context=r"(?<![a-z_]) context_len(?:gth)? ['\"]? [=:] <max_length>",
        sglang_dtype=r"Using KV cache dtype: <kv_dtype:dtype>",
    ),
    *_forms(
        "engine",
        "TensorRT-LLM",
        paged=r"Allocated <gib:GiB> for max tokens in paged KV cache \(<tokens>\)",
    ),
    # 8k and 8K are different numbers, and neither is 8.
    _setting("set_length", "", r"<max_length> (?![kmg.])"),
    _setting("set_block", "", "<block_size>"),
    _setting("set_tp", "", "<tensor_parallel>"),
    _setting("set_pp", "", "<pipeline_parallel>"),
    _setting("set_dtype", "", "<kv_dtype:dtype>"),
    _setting("set_seqs", "vLLM", "<max_num_seqs>"),
    *_forms(
        "setting",
        "",
        set_model=r"(?<![\w.\-]) ['\"]? model(?:_path)? ['\"]? [=:] ['\"] <model:quoted> ['\"]",
    ),
    *_forms(
        "other",
        "vLLM",
        vllm_model=r"█ model <model:word>",
        loading=r"Starting to load model <model:word>",
        # Advice, with a size that is not the cache's.
        advice=r"--kv-cache-memory(?:-bytes)? =? [0-9]{1,18}+ ['`]? \(<advised:GiB>\)",
    ),
    *_forms(
        "other",
        "",
        hybrid=r"(?:Mamba Cache is allocated|Padding mamba page size|SWAKVPool mem usage)",
        # Printed while serving.
        usage=r"KV cache usage: [0-9]{1,3}+",
    ),
)

# Words that only a line about the size of the cache has. Where one stands and no form fits, the
# line is shown as one that could not be read.
HINT = re.compile(
    "|".join(
        words.replace(" ", "")
        for words in (
            r"KV cache size",
            r"kv cache memory in use is",
            r"(?:GPU|CUDA) blocks: ",
            r"Maximum concurrency for",
            r"KV cache memory: ",
            r"reserved for KV Cache is",
            r"available_kv_cache_memory",
            r"KV Cache is allocated",
            r"stored in KV cache",
            r"KV cache is needed",
            r"max_total_num_tokens=",
            r"--max-model-len=?[0-9]",
            # Of no engine that is known here: the cache, and a figure with a unit.
            r"KV[-_]? cache [^\n]{0,40}? [0-9](?:GiB|GB|MiB|MB|tokens|blocks)",
        )
    ),
    re.IGNORECASE,
)
