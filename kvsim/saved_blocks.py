"""What sharing saves: the blocks that requests would hold if nobody shared, and do not."""

import numpy as np

from kvsim.stays import Stays
from kvsim.workload import IntArray, Requests


def saved_blocks(requests: Requests, stays: Stays, block_size: int) -> IntArray:
    """Blocks saved in each pass, where samples share their prompt and all a system prompt.

    A group of m running samples has the full blocks of its prompt once, in place of m times, and
    in its first pass a partly filled one as well; g groups have the system prompt's once.
    """
    count = int(stays.last_pass.max(initial=-1)) + 1
    samples = requests.samples
    system = requests.shared_tokens // block_size
    prompt = requests.prompt_tokens[stays.request]
    full = prompt // block_size

    # Members that are admitted together stand side by side.
    group = stays.request // samples
    begins = np.append(True, (np.diff(group) != 0) | (np.diff(stays.first_pass) != 0))
    starts = np.flatnonzero(begins[: len(group)])
    last_pass = np.maximum.reduceat(stays.last_pass, starts) if len(starts) else starts
    first_pass = stays.first_pass[starts]

    def during(amount: IntArray | int, first: IntArray, last: IntArray) -> IntArray:
        """Sum amounts over what lasts through each pass."""
        total = np.zeros(count + 1, np.int64)
        np.add.at(total, first, amount)
        np.add.at(total, last + 1, np.negative(amount))
        return np.cumsum(total)[:count]

    once = during(full[starts], first_pass, last_pass)
    each = during(full, stays.first_pass, stays.last_pass)
    members = np.diff(np.append(starts, len(group)))
    unwritten = (stays.first_tokens == prompt)[starts] & (prompt[starts] % block_size > 0)
    copies_to_come = during((members - 1) * unwritten, first_pass, first_pass)
    groups = during(1, first_pass, last_pass)
    saved: IntArray = each - once + copies_to_come + np.maximum(groups - 1, 0) * system
    return saved
