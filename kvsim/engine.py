"""What happens: requests, a server and an allocation in, a timeline out.

Time moves from pass to pass, as real engines schedule. Between two events (an arrival that may be
admitted, an end, a shortage of blocks) nothing about a pass changes but the cached tokens, which
grow by one for each running request, so such a stretch is taken in one step, exactly.
"""

from array import array
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import inf

import numpy as np

from kvsim.allocation import Allocation
from kvsim.kinds import of_kind
from kvsim.roofline import Roofline
from kvsim.server import Server
from kvsim.stays import Moves, Stays
from kvsim.timeline import Timeline
from kvsim.workload import Requests

_STAY_BITS = 40
_STAY = (1 << _STAY_BITS) - 1


def simulate(requests: Requests, server: Server, allocation: Allocation) -> Timeline:
    """Serve ``requests`` on ``server``, first come first served, until all have finished.

    Requests that share memory (see :class:`kvsim.allocation.Paged`) are a group: admitted and
    pre-empted together. All others are groups of one.

    Raises ``ValueError``, before anything is simulated, for a request that could never run; and
    when a pre-empted request has grown too long for ``max_batched_tokens`` to recompute it.
    """
    of_kind("requests", requests, Requests)
    of_kind("server", server, Server)
    of_kind("allocation", allocation, Allocation)
    allocation.check(requests, server)
    size = allocation.group_size(requests)
    groups = len(requests) // size
    arrival_s = [*requests.arrival_s[::size].tolist(), inf]
    prompt = requests.prompt_tokens[::size].tolist()
    arriving = np.arange(len(requests)).reshape(-1, size).tolist()  # the members of each group
    final = requests.final_tokens.tolist()
    max_running = server.max_num_seqs or inf
    max_processed = server.max_batched_tokens or inf
    swaps = allocation.swaps

    roofline = Roofline(server, allocation.read_factor)
    pool = allocation.pool(server, requests)
    take, give_back, grow, ready_of = pool.take, pool.give_back, pool.grow, pool.ready

    now_s = 0.0
    q = 0  # number of the pass that is next
    batch = 0  # running requests
    cached = 0  # tokens they hold
    upcoming = 0  # the first group that has never been admitted
    returned: list[tuple[Sequence[int], int]] = []  # pre-empted: members, and tokens of each
    blocked = False  # the head of the queue did not fit, and nothing has been given back since
    ends: list[int] = []  # heap of the running stays: last pass and number, as one integer each
    stay_request, stay_first_pass, stay_first_tokens, stay_last_pass, stay_ready = (
        array("q") for _ in range(5)
    )
    moves = array("q")  # stay, pass, tokens and blocks of each move to or from the host
    first_token_s = array("d")
    finish_s = array("d", bytes(8 * len(requests)))

    while batch or returned or upcoming < groups:
        if not (batch or returned) and now_s < arrival_s[upcoming]:
            now_s = arrival_s[upcoming]
        admitting = not blocked and (bool(returned) or arrival_s[upcoming] <= now_s)
        if admitting:
            room = grow(q, 1)
        else:
            passes, duration_s = roofline.decode_s(
                batch,
                cached,
                (ends[0] >> _STAY_BITS) - q + 1,
                inf if blocked else arrival_s[upcoming] - now_s,
            )
            room = grow(q, passes)

        if room and not admitting:
            # Only decoding, up to an end, an arrival, or the last pass that finds its blocks.
            if room < passes:
                passes, duration_s = roofline.decode_s(batch, cached, room, inf)
            cached += batch * passes
        elif room:
            # A pass that starts with admissions, until the first that does not fit.
            passes, processed, attended, moved, moved_blocks = 1, batch, cached + batch, 0, 0
            cached += batch
            decoding, fresh = batch, upcoming
            while returned or arrival_s[upcoming] <= now_s:
                if returned:
                    members, held = returned[-1]
                    tokens = held + 1
                else:
                    members, held, tokens = arriving[upcoming], 0, prompt[upcoming]
                fetches = swaps and held
                ready = [held] * len(members) if fetches else ready_of(members, tokens)
                joining, known = len(members), sum(ready)
                work = joining * tokens - known
                attends = joining * tokens * (tokens + 1) // 2
                if known:
                    attends -= sum(each * (each + 1) // 2 for each in ready)
                fetched = pool.missing(members, held) if fetches else None
                if (
                    batch + joining > max_running
                    or processed + work > max_processed
                    or not take(members[0] // size, tokens, q)
                ):
                    # Prefills of this pass that fill the token budget do not fill the next one's.
                    blocked = batch == decoding or server.max_batched_tokens is None
                    break
                if held:
                    returned.pop()
                else:
                    upcoming += 1
                batch += joining
                cached += tokens * joining
                processed += work
                attended += attends
                if fetched:
                    moved += fetched[0]
                    moved_blocks += fetched[1]
                    moves.extend((len(stay_request), q, *fetched))
                for request, each in zip(members, ready, strict=True):
                    last = q + final[request] - tokens
                    heappush(ends, last << _STAY_BITS | len(stay_request))
                    stay_request.append(request)
                    stay_first_pass.append(q)
                    stay_first_tokens.append(tokens)
                    stay_last_pass.append(last)
                    stay_ready.append(each)
            duration_s = roofline.pass_s(processed, attended, cached, moved, moved_blocks)
            if upcoming > fresh:
                first_token_s.extend([now_s + duration_s] * ((upcoming - fresh) * size))
        else:
            # Blocks are short: pre-empt the newest, again and again, and admit nobody.
            passes, moved, moved_blocks = 1, 0, 0
            while not grow(q, 1):
                stay = max(end & _STAY for end in ends)
                newest = stay_request[stay] // size
                # Its members were admitted one after another; some may have ended.
                evicted = [
                    each
                    for each in range(max(stay - size + 1, 0), stay + 1)
                    if stay_request[each] // size == newest and stay_last_pass[each] >= q
                ]
                members = [stay_request[each] for each in evicted]
                held = stay_first_tokens[evicted[0]] + q - 1 - stay_first_pass[evicted[0]]
                recomputed = prompt[newest] + len(members) * (held + 1 - prompt[newest])
                if recomputed > max_processed and not swaps:
                    raise ValueError(
                        f"Request {members[0]} was pre-empted with {recomputed:,} tokens to "
                        f"recompute, but max_batched_tokens is {server.max_batched_tokens:,} and "
                        "prefills are not split: raise it, enlarge the cache or pre-empt by "
                        "swapping."
                    )
                if swaps:
                    tokens, blocks = pool.content(members, held)
                    moved += tokens
                    moved_blocks += blocks
                    moves.extend((evicted[0], q, tokens, blocks))
                for stay in reversed(evicted):
                    ends.remove(stay_last_pass[stay] << _STAY_BITS | stay)
                    stay_last_pass[stay] = q - 1
                    give_back(stay_request[stay], held, q - 1)
                returned.append((members, held))
                batch -= len(members)
                cached -= held * len(members)
            heapify(ends)
            blocked = False
            cached += batch
            duration_s = roofline.pass_s(batch, cached, cached, moved, moved_blocks)

        now_s += duration_s
        q += passes
        while ends and ends[0] < q << _STAY_BITS:
            request = stay_request[heappop(ends) & _STAY]
            finish_s[request] = now_s
            give_back(request, final[request], q - 1)
            batch -= 1
            cached -= final[request]
            blocked = False

    return Timeline(
        requests,
        server,
        allocation,
        np.array(first_token_s) - requests.arrival_s,
        np.array(finish_s),
        Stays(
            np.array(stay_request),
            np.array(stay_first_pass),
            np.array(stay_first_tokens),
            np.array(stay_last_pass),
            np.array(stay_ready),
            requests.final_tokens[stay_request],
        ),
        Moves(*np.array(moves).reshape(-1, 4).T),
    )
