"""Lines of servers' start-ups as they were published, and what is done to them on the way here."""

import textwrap

# Each: where the wording is from, the lines, engine, generation, and the figures in them.
REAL = {
    # vllm-project/vllm issue 2136, comment 1 on 0.2.5; the shape of the line is the same there.
    "V0, 0.2": (
        "INFO 12-15 18:01:12 llm_engine.py:219] # GPU blocks: 112, # CPU blocks: 1310",
        ("vLLM", "V0"),
        {"blocks": 112, "cpu_blocks": 1310},
    ),
    # vllm-project/vllm issue 2418.
    "V0, 0.2 refuses": (
        "INFO 01-11 15:51:02 llm_engine.py:70] Initializing an LLM engine with config: "
        "model='/home/***/models/alpaca-2', tokenizer='/home/***/models/alpaca-2', "
        "tokenizer_mode=auto, dtype=torch.float16, max_seq_len=4096, download_dir=None, "
        "tensor_parallel_size=1, quantization=None, enforce_eager=False, seed=0)\n"
        "INFO 01-11 15:51:18 llm_engine.py:275] # GPU blocks: 229, # CPU blocks: 512\n"
        "ValueError: The model's max seq len (4096) is larger than the maximum number of tokens "
        "that can be stored in KV cache (3664). Try increasing `gpu_memory_utilization` or "
        "decreasing `max_model_len` when initializing the engine.",
        ("vLLM", "V0"),
        {
            "blocks": 229,
            "cpu_blocks": 512,
            "model": "/home/***/models/alpaca-2",
            "max_length": 4096,
            "tokens": 3664,
            "tensor_parallel": 1,
        },
    ),
    # vllm-project/vllm issue 10517: a heading's # went missing.
    "V0, 0.6.4": (
        "Loading model weights took 14.9888 GB\n"
        "Memory profiling results: total_gpu_memory=23.58GiB initial_memory_usage=15.34GiB "
        "peak_torch_memory=17.06GiB memory_usage_post_profile=15.35GiB "
        "non_torch_memory=0.35GiB kv_cache_size=3.81GiB gpu_memory_utilization=0.90\n"
        "GPU blocks: 1952, # CPU blocks: 2048\n"
        "Maximum concurrency for 20000 tokens per request: 1.56x",
        ("vLLM", "V0"),
        {
            "cache_gib": 3.81,
            "blocks": 1952,
            "cpu_blocks": 2048,
            "max_length": 20000,
            "max_concurrency": 1.56,
        },
    ),
    # vllm-project/vllm pull request 10511.
    "V0, 0.6.5": (
        "INFO 12-13 19:54:18 worker.py:243] Memory profiling results:\n"
        "INFO 12-13 19:54:18 worker.py:243] PyTorch activation peak memory       1.26GiB\n"
        "INFO 12-13 19:54:18 worker.py:243] available_kv_cache_memory    53.29GiB",
        ("vLLM", "V0"),
        {"cache_gib": 53.29},
    ),
    # A log in a public repository, case C049 of the observed capacities.
    "V0, 0.7": (
        "INFO 05-30 06:40:55 worker.py:267] model weights take 2.89GiB; non_torch_memory takes "
        "0.01GiB; PyTorch activation peak memory takes 2.02GiB; the rest of the memory reserved "
        "for KV Cache is 2.36GiB.\n"
        "INFO 05-30 06:40:55 executor_base.py:110] # CUDA blocks: 5519, # CPU blocks: 9362\n"
        "INFO 05-30 06:40:55 executor_base.py:115] Maximum concurrency for 32768 tokens per "
        "request: 2.69x",
        ("vLLM", "V0"),
        {
            "cache_gib": 2.36,
            "blocks": 5519,
            "cpu_blocks": 9362,
            "max_length": 32768,
            "max_concurrency": 2.69,
        },
    ),
    # vllm-project/vllm pull request 13596, before and after.
    "V1, first": (
        "INFO 02-20 00:01:02 kv_cache_utils.py:522] # GPU blocks: 127626\n"
        "INFO 02-20 00:01:02 kv_cache_utils.py:525] Maximum concurrency for 2048 tokens per "
        "request: 997.08x",
        ("vLLM", ""),
        {"blocks": 127626, "max_length": 2048, "max_concurrency": 997.08},
    ),
    "V1, 0.7.3": (
        "INFO 02-19 23:56:55 kv_cache_utils.py:524] GPU KV cache size: 2,042,016 tokens\n"
        "INFO 02-19 23:56:55 kv_cache_utils.py:527] Maximum concurrency for 2,048 tokens per "
        "request: 997.08x",
        ("vLLM", "V1"),
        {"tokens": 2042016, "max_length": 2048, "max_concurrency": 997.08},
    ),
    # noonghunna/club-3090 issue 295.
    "V1 of two kinds of layer": (
        "(APIServer pid=1) INFO 06-01 09:20:16 [utils.py:278] non-default args: {'model': "
        "'~/.cache/huggingface/qwen3.6-27b-autoround-int4', 'max_model_len': 262144, "
        "'tensor_parallel_size': 2, 'kv_cache_dtype': 'fp8_e5m2', 'max_num_seqs': 2, "
        "'speculative_config': {'method': 'mtp', 'model': 'a-draft', "
        "'num_speculative_tokens': 3}}\n"
        "(EngineCore pid=120) INFO 06-01 09:21:05 [interface.py:500] Setting attention block size "
        "to 1600 tokens to ensure that attention page size is >= mamba page size.\n"
        "(EngineCore pid=120) INFO 06-01 09:22:30 [kv_cache_utils.py:1733] GPU KV cache size: "
        "620,944 tokens\n"
        "(EngineCore pid=120) INFO 06-01 09:22:30 [kv_cache_utils.py:1734] Maximum concurrency "
        "for 262,144 tokens per request: 2.37x",
        ("vLLM", "V1"),
        {
            "model": "~/.cache/huggingface/qwen3.6-27b-autoround-int4",
            "tokens": 620944,
            "block_size": 1600,
            "max_length": 262144,
            "max_concurrency": 2.37,
            "tensor_parallel": 2,
            "max_num_seqs": 2,
            "kv_dtype": "fp8_e5m2",
        },
    ),
    # One line since 2026; logs in public repositories.
    "V1, one line": (
        "(EngineCore pid=7) INFO 09-01 10:00:00 [gpu_worker.py:492] Initial free memory 137.66 "
        "GiB, reserved 6.0 GiB memory for KV Cache as specified by kv_cache_memory_bytes config "
        "and skipped memory profiling.\n"
        "(EngineCore pid=7) INFO 09-01 10:00:01 [kv_cache_utils.py:2141] GPU KV cache size: "
        "443,628 tokens, Maximum concurrency for 131,072 tokens per request: 3.38x",
        ("vLLM", "V1"),
        {"cache_gib": 6.0, "tokens": 443628, "max_length": 131072, "max_concurrency": 3.38},
    ),
    # Logs in public repositories, of 2025 and 2026.
    "V1 in use, bytes": (
        "(EngineCore_DP0 pid=1944) INFO 09-24 20:53:41 [kv_cache_utils.py:864] GPU KV cache size: "
        "238,208 tokens\n"
        "(Worker_TP2_EP2 pid=2080) INFO 09-24 20:54:35 [gpu_worker.py:391] Free memory on device "
        "(43.93/44.42 GiB) on startup. Desired GPU memory utilization is (0.9, 39.98 GiB). "
        "Replace gpu_memory_utilization config with `--kv-cache-memory=7564378828` to fit into "
        "requested memory. Current kv cache memory in use is 11423138508 bytes.",
        ("vLLM", "V1"),
        {"tokens": 238208, "cache_gib": 11423138508 / 2**30},
    ),
    "V1 in use, GiB": (
        "(Worker_TP1 pid=771) INFO 08-21 18:22:06 [gpu_worker.py:789] Free memory on device "
        "(94.05/95.01 GiB) on startup. Replace gpu_memory_utilization config with "
        "`--kv-cache-memory=29407858586` (27.39 GiB) to fit into requested memory, or "
        "`--kv-cache-memory=38581581312` (35.93 GiB) to fully utilize gpu memory. Current kv "
        "cache memory in use is 27.85 GiB.",
        ("vLLM", "V1"),
        {"cache_gib": 27.85},
    ),
    # vllm-project/vllm issue 34076.
    "V1 refuses": (
        "(EngineCore_DP0 pid=1094) ValueError: To serve at least one request with the models's "
        "max seq len (262144), (24.0 GiB KV cache is needed, which is larger than the available "
        "KV cache memory (3.18 GiB). Based on the available memory, the estimated maximum model "
        "length is 34736.",
        ("vLLM", "V1"),
        {"cache_gib": 3.18, "max_length": 262144},
    ),
    # vllm-project/vllm issue 42510 has the first line, pull request 24162 the second.
    "V1 greets": (
        "(EngineCore_DP0 pid=929042) INFO 05-13 16:41:31 [core.py:97] Initializing a V1 LLM "
        "engine (v0.14.1) with config: model='/models/LLM-Research/Meta-Llama-3___1-8B-Instruct', "
        "dtype=torch.bfloat16, max_seq_len=131072, tensor_parallel_size=1, "
        "pipeline_parallel_size=1, data_parallel_size=1, kv_cache_dtype=auto, "
        "device_config=cuda\n"
        "INFO 09-03 16:28:17 [__init__.py:1773] Using max model len 32768",
        ("vLLM", "V1"),
        {
            "version": "0.14.1",
            "model": "/models/LLM-Research/Meta-Llama-3___1-8B-Instruct",
            "max_length": 32768,
            "tensor_parallel": 1,
            "pipeline_parallel": 1,
            "kv_dtype": "auto",
        },
    ),
    # vllm-project/vllm issue 39734.
    "V1's banner": (
        "(APIServer pid=1327189) INFO 04-15 07:22:41 [utils.py:299]  ▄▄ ▄█ █     █     █ ▀▄▀ █  "
        "version 0.19.1rc1.dev301+g60995c05b\n"
        "(APIServer pid=1327189) INFO 04-15 07:22:41 [utils.py:299]   █▄█▀ █     █     █     █  "
        "model   google/gemma-4-31B-it\n"
        "(APIServer pid=1327189) INFO 04-15 07:22:41 [utils.py:299]    ▀▀  ▀▀▀▀▀ ▀▀▀▀▀ ▀     ▀",
        ("vLLM", ""),
        {"version": "0.19.1rc1.dev301", "model": "google/gemma-4-31B-it"},
    ),
    # A log in a public repository; max_running_requests is SGLang's limit.
    "SGLang": (
        "[2026-02-04 11:30:29] Using KV cache dtype: torch.bfloat16\n"
        "[2026-02-04 11:30:29] KV Cache is allocated. #tokens: 20480, K size: 0.12 GB, V size: "
        "0.12 GB\n"
        "[2026-02-04 11:30:29] Memory pool end. avail mem=77.12 GB\n"
        "[2026-02-04 11:30:31] max_total_num_tokens=20480, chunked_prefill_size=8192, "
        "max_prefill_tokens=16384, max_running_requests=128, context_len=32768, "
        "available_gpu_mem=76.95 GB",
        ("SGLang", ""),
        {
            "cache_gib": 0.24,
            "tokens": 20480,
            "max_num_seqs": 128,
            "max_length": 32768,
            "kv_dtype": "bfloat16",
        },
    ),
    # Logs in public repositories: latent attention, eight workers.
    "SGLang, latent": (
        "[2026-02-26 16:41:18 TP6] KV Cache is allocated. #tokens: 2454421, KV size: 160.63 GB\n"
        "[2026-02-26 16:41:18 TP0] KV Cache is allocated. #tokens: 2454421, KV size: 160.63 GB",
        ("SGLang", ""),
        {"cache_gib": 160.63, "tokens": 2454421},
    ),
    # noonghunna/club-3090 issue 1261: the second is the draft model's.
    "SGLang, draft": (
        "[2026-09-12 00:22:48 TP0] KV Cache is allocated. dtype: torch.float8_e4m3fn, #tokens: "
        "454112, K size: 3.46 GB, V size: 3.46 GB\n"
        "[2026-09-12 00:22:48 TP0] Memory pool end. avail mem=8.40 GB\n"
        "[2026-09-12 00:22:48 TP0] KV Cache is allocated. dtype: torch.float8_e4m3fn, #tokens: "
        "454112, K size: 1.08 GB, V size: 1.08 GB",
        ("SGLang", ""),
        {"cache_gib": 9.08, "tokens": 454112, "kv_dtype": "float8_e4m3fn"},
    ),
    # sgl-project/sglang pull request 13023, shortened.
    "SGLang's settings": (
        "[2025-11-11 04:27:11] server_args=ServerArgs(model_path='meta-llama/Llama-3.1-8B', "
        "tokenizer_path='meta-llama/Llama-3.1-8B', context_length=None, kv_cache_dtype='auto', "
        "mem_fraction_static=0.851, max_running_requests=None, page_size=64, tp_size=4, "
        "pp_size=2)",
        ("SGLang", ""),
        {
            "model": "meta-llama/Llama-3.1-8B",
            "kv_dtype": "auto",
            "block_size": 64,
            "tensor_parallel": 4,
            "pipeline_parallel": 2,
        },
    ),
    # A log in a public repository, case C085 of the observed capacities.
    "TensorRT-LLM": (
        "[TensorRT-LLM][INFO] Allocated 26.91 GiB for max tokens in paged KV cache (220480).",
        ("TensorRT-LLM", ""),
        {"cache_gib": 26.91, "tokens": 220480},
    ),
    "a command": (
        "vllm serve Qwen/Qwen3-8B --tensor-parallel-size 4 --max-model-len 8192 "
        "--kv-cache-dtype fp8_e4m3 --block-size=32 --max-num-seqs 64",
        ("vLLM", ""),
        {
            "tensor_parallel": 4,
            "max_length": 8192,
            "kv_dtype": "fp8_e4m3",
            "block_size": 32,
            "max_num_seqs": 64,
        },
    ),
}


def wrapped(text, width):
    """Break lines where a terminal of that many columns does."""
    return "\n".join(
        line[start : start + width]
        for line in text.split("\n")
        for start in range(0, max(len(line), 1), width)
    )


def word_wrapped(text, width):
    """Break lines between words, as editors and forums do."""
    return "\n".join(
        part
        for line in text.split("\n")
        for part in textwrap.wrap(line, width, break_on_hyphens=False) or [""]
    )


def coloured(text):
    """Colour worker's names, levels and files, as vLLM does."""
    for before, after in (
        ("(EngineCore", "\x1b[0;36m(EngineCore"),
        (" INFO ", "\x1b[0;0m\x1b[32m INFO\x1b[0m "),
        ("] ", "]\x1b[1;39;49m\x1b[0m "),
    ):
        text = text.replace(before, after)
    return text


def unescaped(text):
    """Colours as pages show them that drop the escape character."""
    return coloured(text).replace("\x1b[", "[")


def quoted(text):
    """Quote every line twice."""
    return "\n".join(f"> > {line}" for line in text.split("\n"))


def windows(text):
    return text.replace("\n", "\r\n")


def composed(text):
    """The prefixes of containers."""
    return "\n".join(f"vllm-1  | {line}" for line in text.split("\n"))


def as_it_is(text):
    return text


PASTED = (as_it_is, coloured, unescaped, quoted, windows, composed)
