"""Workloads, golden cases, and how a run is compared with what it should be."""

import json
from pathlib import Path

import numpy as np

from kvsim import Contiguous, Paged, Requests, Server

GOLDEN = Path(__file__).parent / "golden"


def golden_cases():
    """Name and content of every worked case."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(GOLDEN.glob("*.json"))}


def golden_run(case):
    """Requests, server and allocation of a worked case."""
    setting = case["setting"]
    requests = Requests(case["arrival_s"], case["prompt_tokens"], case["output_tokens"])
    server = Server(
        cache_bytes=setting["cache_bytes"],
        max_num_seqs=setting["max_num_seqs"],
        max_batched_tokens=setting["max_batched_tokens"],
    )
    if setting["policy"] == "contiguous":
        return requests, server, Contiguous(max_length=setting["max_length"])
    return (
        requests,
        server,
        Paged(
            block_size=setting["block"],
            block_overhead=setting["block_overhead"],
            preemption=setting["preempt"],
            watermark=setting["watermark"],
        ),
    )


def plate_requests(rate, count, seed, max_length=8192, mean_prompt=1024, mean_output=256):
    """The plate's workload: Poisson arrivals, exponential lengths rounded and cut."""
    rng = np.random.default_rng(seed)
    arrival_s = np.cumsum(rng.exponential(1 / rate, count))
    prompt = np.clip(np.rint(rng.exponential(mean_prompt, count)), 1, max_length - 1)
    output = np.clip(np.rint(rng.exponential(mean_output, count)), 1, max_length - prompt)
    return Requests(arrival_s, prompt.astype(int), output.astype(int))


def stays_of(timeline):
    """(request, first pass, tokens after it, last pass) of each stay, sorted."""
    stays = timeline.stays
    columns = (stays.request, stays.first_pass, stays.first_tokens, stays.last_pass)
    return sorted(zip(*(np.asarray(column).tolist() for column in columns), strict=True))
