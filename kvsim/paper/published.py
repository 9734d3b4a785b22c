"""What Kwon et al. measured: figures to hold a simulation against.

"Efficient Memory Management for Large Language Model Serving with PagedAttention", SOSP 2023
(arXiv 2309.06180). Systems are ``max``, ``pow2`` and ``oracle`` (Orca, by what it knows of the
output when it reserves memory) and ``paged`` (vLLM).
"""

# Figure 2: per cent of all cache slots; and mean batches, figure 13a (ShareGPT, 2 requests/s).
FIGURE_2 = {
    "max": {"token_states": 20.4, "reserved": 13.3, "internal": 57.3, "rest": 8.9, "batch": 7.00},
    "pow2": {"token_states": 26.8, "reserved": 17.9, "internal": 13.6, "rest": 41.6, "batch": 9.81},
    "oracle": {
        "token_states": 38.2,
        "reserved": 25.2,
        "internal": 0.0,
        "rest": 36.6,
        "batch": 13.62,
    },
    "paged": {"token_states": 96.3, "reserved": 0.0, "internal": 0.0, "rest": 3.7, "batch": 30.42},
}
# By how many points the mean of several simulated runs may fairly differ from one measured run.
FIGURE_2_TOLERANCE = {"max": 2.0, "pow2": 1.5, "oracle": 1.5, "paged": 0.4}

# Table 1: memory for the cache in GiB (the paper writes GB), and the most tokens that it holds.
TABLE_1 = {"OPT-13B": (12, 15_700), "OPT-66B": (21, 9_700), "OPT-175B": (264, 60_100)}

# Figure 13b: mean batch, Alpaca at 30 requests/s. Figure 11: its mean prompt and output tokens.
FIGURE_13B = {"max": 7.00, "pow2": 43.24, "oracle": 72.75}
ALPACA_MEAN_TOKENS = (19.31, 58.45)

# Section 6.2: requests/s at a normalized latency of 0.5 s a token (OPT-13B, ShareGPT), and how
# many times the rate of the first system the second one sustains, over all of its settings.
RATES_PER_S = {"max": 0.53, "pow2": 0.77, "oracle": 1.10, "paged": 1.93}
RATE_RATIOS = {"oracle": (1.7, 2.7), "max": (2.7, 8.0)}

# Figure 15: memory saved by sharing a prompt among samples, per cent of the blocks without sharing.
# Alpaca by number of samples (2, 4 and 6); of ShareGPT only the range over them is known here.
FIGURE_15_ALPACA = {2: 6.09, 4: 8.53, 6: 9.79}
FIGURE_15_SHAREGPT = (16.2, 30.5)

# Figure 16: throughput over that of Orca (Oracle), by tokens of a prefix that all prompts share.
FIGURE_16 = {80: 1.67, 341: 3.58}

# Figure 19: seconds to bring back a pre-empted request, by block size; recomputing it takes the
# same at every size. Figure 1: seconds of a prompt token.
FIGURE_19_SWAP_S = {1: 0.137, 16: 0.040, 256: 0.033}
FIGURE_19_RECOMPUTE_S = 0.038
PROMPT_TOKEN_S = 0.15e-3

# Not from the paper: its rules run by an independent program. Per cent of slots that hold token
# states, by block size; and those and the mean batch where the oracle's runs are placed first-fit.
PAGED_BY_BLOCK_SIZE = {1: 97.97, 8: 97.21, 16: 96.27, 32: 94.75, 64: 91.44, 128: 85.41}
FIRST_FIT_ORACLE = {"token_states": 50.6, "batch": 18.1}
