"""Objects of a wrong kind: each door says in one sentence what it takes."""

import numpy as np
import pytest

import kvsim
from kvsim.kinds import of_kind, shown

TRACE = kvsim.read_trace("arrival_s,prompt_tokens,output_tokens\n0,5,5\n1,5,5\n")
SHAPE, CARD = kvsim.MODELS["qwen3-8b"].shape, kvsim.CARDS["H100"]
SETTING = kvsim.Setting(rate_per_s=1, replications=1, duration_s=1)
RUN = kvsim.simulate(TRACE.requests(), kvsim.Server(), kvsim.Paged())


def pool():
    return kvsim.BlockPool(8, 4)


def tables():
    return kvsim.BlockTables(pool())


DOORS = {
    "settings": kvsim.sweep,
    "settings[0]": lambda value: kvsim.sweep([value]),
    "executor": lambda value: kvsim.sweep([SETTING], executor=value),
    "progress": lambda value: kvsim.sweep([SETTING], progress=value),
    "server": lambda value: kvsim.Setting(server=value),
    "allocation": lambda value: kvsim.Setting(allocation=value),
    "lengths": lambda value: kvsim.Setting(lengths=value),
    "limits": lambda value: kvsim.Setting(limits=value),
    "pool": kvsim.BlockTables,
    "host": lambda value: kvsim.SwappingTables(pool(), value),
    "table": lambda value: tables().fork(value),
    "tokens": lambda value: tables().allocate(value),
    "salt": lambda value: tables().allocate([1], value),
    "trace": kvsim.Replay,
    "results": kvsim.to_csv,
    "setting": lambda value: kvsim.to_csv([(value, None, None)]),
    "summary": lambda value: kvsim.record(SETTING, value),
    "data": kvsim.read_trace,
    "source": kvsim.write_trace,
    "pasted": kvsim.read_log,
    "config": kvsim.read_config,
    "shape": lambda value: kvsim.server_for(value, CARD),
    "card": lambda value: kvsim.server_for(SHAPE, value),
    "weights": lambda value: kvsim.server_for(SHAPE, CARD, weights=value),
    "kv_dtype": lambda value: kvsim.server_for(SHAPE, CARD, kv_dtype=value),
    "requests": lambda value: kvsim.simulate(value, kvsim.Server(), kvsim.Paged()),
    "timeline": kvsim.preemptions,
    "placement": kvsim.account,
    "log": kvsim.cache_of,
    "layers": kvsim.cache_layout,
    "layout": lambda value: kvsim.figures_of_bytes(value, 1e9, None),
    "timelines": kvsim.summarise,
    "rates_per_s": lambda value: kvsim.ttft_curve(
        kvsim.Server(), kvsim.Paged(), kvsim.ExponentialLengths(), value
    ),
    "preemption": lambda value: kvsim.Paged(preemption=value),
    "sharing": lambda value: kvsim.Paged(sharing=value),
    "estimate": kvsim.Buddy,
    "time_s": lambda value: RUN.content_at(str(value)),
    "kept": lambda value: kvsim.to_json([value, RUN]),
}
RUN = kvsim.simulate(TRACE.requests(), kvsim.Server(), kvsim.Paged())


@pytest.mark.parametrize("name", DOORS)
@pytest.mark.parametrize("value", [1.5, object(), np.array(3), pytest], ids=lambda value: None)
def test_an_object_of_a_wrong_kind_is_refused(name, value):
    with pytest.raises(ValueError, match=r"^.* is [^\n]{1,90}: [^\n]+\.$") as refused:
        DOORS[name](value)
    assert str(refused.value).startswith(f"{name} is ")


def test_a_class_is_no_allocation():
    with pytest.raises(ValueError, match="allocation is <class"):
        kvsim.Setting(allocation=kvsim.Paged)


def test_a_value_is_shown_in_one_line():
    class Odd:
        def __repr__(self):
            raise RuntimeError

    assert shown("a\nb") == r"'a\nb'"
    assert len(shown("a" * 1000)) == 80
    assert "\n" not in shown(np.ones((9, 9)))
    assert shown(Odd()) == "of type Odd"
    assert of_kind("it", 1, str, int) is None


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"rate_per_s": 1e-320}, "rate_per_s is"),
        ({"rate_per_s": 1e12}, "rate_per_s is"),
        ({"duration_s": 1e300}, "duration_s is"),
        ({"rate_per_s": 1e6, "duration_s": 1e6}, "at most 20,000,000"),
    ],
)
def test_settings_that_would_never_end_are_refused(values, named):
    with pytest.raises(ValueError, match=named):
        kvsim.Setting(**values)


def test_a_trace_cannot_be_stretched_without_end():
    with pytest.raises(ValueError, match="choose a higher one"):
        TRACE.at_rate(5e-324)


def test_what_can_be_read_only_once_is_read_whole():
    rows = kvsim.requests_csv([RUN, RUN])
    assert kvsim.requests_csv(iter([RUN, RUN])) == rows
    assert len(rows.splitlines()) == 1 + 2 * len(RUN.requests)
    assert kvsim.summarise(iter([RUN, RUN])).runs == 2
