"""What pre-emption cost: who was evicted and when, and what it took to bring each back."""

from dataclasses import dataclass

import numpy as np

from kvsim.kinds import of_kind
from kvsim.passes import positions
from kvsim.roofline import Roofline
from kvsim.timeline import Timeline
from kvsim.workload import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Preemptions:
    """All pre-emptions of a run, in the order in which they happened."""

    request: IntArray
    evicted_s: FloatArray  # start of the pass that found too few blocks
    returned_s: FloatArray  # start of the pass that admitted the request again
    cached_tokens: IntArray  # that it had
    recomputed_tokens: IntArray  # computed again when it returned
    moved_bytes: FloatArray  # to the host and back
    cost_s: FloatArray  # by how much longer the passes took that moved or recomputed them

    def __len__(self) -> int:
        """Return how many there were."""
        return len(self.request)


def preemptions(timeline: Timeline) -> Preemptions:
    """List the pre-emptions of a run.

    What a request recomputes is all that it computes in its first pass back but one token, which it
    would have decoded anyway. Several in one pass each count the time that the pass would have been
    shorter without that one. Samples of a prompt are listed one by one; what they move together is
    counted with the first of them.
    """
    of_kind("timeline", timeline, Timeline)
    stays, log = timeline.stays, timeline.pass_log
    out = np.flatnonzero(stays.evicted)
    # Of a request's stays the next one is where it returns.
    order = np.lexsort((stays.first_pass, stays.request))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    back = order[place[out] + 1]

    left, returned = stays.last_pass[out] + 1, stays.first_pass[back]
    recomputed = stays.recomputed_tokens[back]
    attended = positions(stays.first_tokens[back] - 1) - positions(stays.ready_tokens[back])

    roofline = Roofline(timeline.server, timeline.allocation.read_factor)
    tokens_out, blocks_out = (each[out] for each in _moved(timeline, began=False))
    tokens_in, blocks_in = (each[back] for each in _moved(timeline, began=True))
    moving_s = roofline.moved_s * (tokens_out + tokens_in)
    moving_s = moving_s + roofline.moved_block_s * (blocks_out + blocks_in)
    work = (log.processed_tokens[returned], log.attended_tokens[returned])
    cached, none = log.cached_tokens[returned], np.zeros(len(out), np.int64)
    recomputing_s = roofline.passes_s(*work, cached, none, none) - roofline.passes_s(
        work[0] - recomputed, work[1] - attended, cached, none, none
    )
    first_out = np.argsort(left, kind="stable")
    token_bytes = timeline.server.model.kv_bytes_per_token
    moved_bytes = ((tokens_out + tokens_in) * token_bytes).astype(np.float64)
    return Preemptions(
        request=stays.request[out][first_out],
        evicted_s=log.start_s[left][first_out],
        returned_s=log.start_s[returned][first_out],
        cached_tokens=stays.tokens_in(stays.last_pass)[out][first_out],
        recomputed_tokens=recomputed[first_out],
        moved_bytes=moved_bytes[first_out],
        cost_s=(recomputing_s + moving_s)[first_out],
    )


def _moved(timeline: Timeline, began: bool) -> tuple[IntArray, IntArray]:
    """Tokens and blocks moved for each stay of a run, when it began or when it was evicted."""
    moves, stays = timeline.moves, timeline.stays
    counted = (stays.first_pass[moves.stay] == moves.in_pass) == began
    tokens, blocks = np.zeros((2, len(stays.request)), np.int64)
    tokens[moves.stay[counted]] = moves.tokens[counted]
    blocks[moves.stay[counted]] = moves.blocks[counted]
    return tokens, blocks
