"""The atlas as a file: whole, the same every time, and refused with a sentence if damaged."""

import json
import zlib
from dataclasses import replace

import numpy as np
import pytest

from kvsim_app.results.atlas import Atlas, AtlasError, from_bytes, load, to_bytes
from kvsim_app.results.container import write_whole
from kvsim_app.results.files import ATLASES


@pytest.fixture
def atlas():
    arrays = {
        "floats": np.linspace(0, 1, 24, dtype=np.float32).reshape(2, 3, 4),
        "doubles": np.array([1 / 3, np.nan]),
        "small": np.array([[1, 2, 3]], np.uint16),
        "steps": np.array([-5, 5], np.int16),
        "none": np.array([], np.uint32),
    }
    return Atlas("abc", {"rate": [1, 2]}, {"model": "Llama é", "seed": 3}, arrays)


def check_same(one, other):
    assert (one.fingerprint, one.axes, one.constants) == (
        other.fingerprint,
        other.axes,
        other.constants,
    )
    assert set(one.arrays) == set(other.arrays)
    for name, array in one.arrays.items():
        assert array.dtype == other.arrays[name].dtype
        np.testing.assert_array_equal(array, other.arrays[name])


def test_what_is_written_is_read(atlas, tmp_path):
    check_same(from_bytes(to_bytes(atlas)), atlas)
    write_whole(tmp_path / "atlas.bin", to_bytes(atlas))
    check_same(load(tmp_path / "atlas.bin"), atlas)


def test_the_same_atlas_gives_the_same_bytes(atlas):
    reordered = replace(
        atlas,
        arrays=dict(reversed(atlas.arrays.items())),
        constants=dict(reversed(atlas.constants.items())),
    )
    assert to_bytes(reordered) == to_bytes(atlas)


def test_the_byte_order_of_the_machine_does_not_matter(atlas):
    foreign = {name: a.astype(a.dtype.newbyteorder(">")) for name, a in atlas.arrays.items()}
    assert to_bytes(replace(atlas, arrays=foreign)) == to_bytes(atlas)


def changed_header(data, **changes):
    """The same file with other entries in its line of JSON."""
    line, _, body = zlib.decompress(data).partition(b"\n")
    return zlib.compress(json.dumps(json.loads(line) | changes).encode() + b"\n" + body)


ARRAY = {"dtype": "float32", "shape": [2], "offset": 0}
DAMAGES = {
    "empty": lambda data: b"",
    "one byte": lambda data: data[:1],
    "cut in half": lambda data: data[: len(data) // 2],
    "last byte missing": lambda data: data[:-1],
    "a bit changed": lambda data: data[:60] + bytes([data[60] ^ 1]) + data[61:],
    "text": lambda data: b"version https://git-lfs.github.com/spec/v1\n",
    "compressed text": lambda data: zlib.compress(b"no JSON\n"),
    "compressed nothing": lambda data: zlib.compress(b""),
    "JSON of another kind": lambda data: zlib.compress(b"[1, 2]\n"),
    "number": lambda data: zlib.compress(b"3\n"),
    "no fields": lambda data: zlib.compress(b"{}\n"),
    "no arrays": lambda data: zlib.compress(b'{"format": 1}\n'),
    "arrays that are none": lambda data: changed_header(data, arrays=None),
    "arrays in a list": lambda data: changed_header(data, arrays=[ARRAY]),
    "array beyond the end": lambda data: changed_header(
        data, arrays={"floats": ARRAY | {"offset": 100_000}}
    ),
    "array too long": lambda data: changed_header(
        data, arrays={"floats": ARRAY | {"shape": [100_000]}}
    ),
    "negative offset": lambda data: changed_header(data, arrays={"floats": ARRAY | {"offset": -8}}),
    "unknown type": lambda data: changed_header(
        data, arrays={"floats": ARRAY | {"dtype": "float99"}}
    ),
    "objects": lambda data: changed_header(data, arrays={"floats": ARRAY | {"dtype": "object"}}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused_with_a_sentence(atlas, damage):
    data = DAMAGES[damage](to_bytes(atlas))
    with pytest.raises(AtlasError, match=r"damaged .*: build it again with `kvsim atlas`\.$"):
        from_bytes(data)


def test_a_file_of_another_format_is_refused_with_a_sentence(atlas):
    with pytest.raises(AtlasError, match=r"format is 2, .* reads 1\): .*`kvsim atlas`\.$"):
        from_bytes(changed_header(to_bytes(atlas), format=2))


def test_a_missing_file_is_refused_with_a_sentence(tmp_path):
    with pytest.raises(AtlasError, match=r"cannot be read \(No such file.*`kvsim atlas`\.$"):
        load(tmp_path / "atlas.bin")
    with pytest.raises(AtlasError, match=r"cannot be read"):
        load(tmp_path)


@pytest.mark.parametrize("step", ["os.fsync", "Path.replace"])
def test_a_file_that_cannot_be_written_leaves_the_old_one_whole(atlas, tmp_path, monkeypatch, step):
    path = tmp_path / "atlas.bin"
    write_whole(path, to_bytes(atlas))
    before = path.read_bytes()

    def fill_the_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"kvsim_app.results.container.{step}", fill_the_disk)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"another")
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path], "nothing half written is left"


@pytest.mark.parametrize("path", ATLASES.values(), ids=ATLASES)
def test_a_shipped_atlas_is_small(path):
    assert path.stat().st_size < 1_000_000


@pytest.mark.parametrize("path", ATLASES.values(), ids=ATLASES)
def test_a_shipped_atlas_is_written_as_this_code_would(path):
    # Its content: how far it is compressed depends on the machine's zlib.
    data = path.read_bytes()
    assert zlib.decompress(to_bytes(from_bytes(data))) == zlib.decompress(data)
