"""The files of results that the page draws from: an atlas for each workload, and the films."""

from pathlib import Path

from .atlas import Atlas, AtlasError, load
from .atlas_build import PLANS
from .container import ContainerError, unpack
from .paths import STATIC

FILMS = STATIC / "films.bin"
ATLASES = {workload: STATIC / f"atlas-{workload}.bin" for workload in PLANS}
_STALE = (
    "{0} was built from other model code than is here, so its numbers may be wrong: build it "
    "again with `kvsim atlas`."
)


def load_atlases() -> dict[str, Atlas]:
    """Read the atlases by workload.

    Raises ``AtlasError`` if one is missing, damaged, or from other model code; or the films are.
    """
    atlases = {workload: load(path) for workload, path in ATLASES.items()}
    for workload, atlas in atlases.items():
        if atlas.fingerprint != PLANS[workload].fingerprint():
            raise AtlasError(_STALE.format(ATLASES[workload].name))
    _check_films(FILMS, atlases["exponential"].fingerprint)
    return atlases


def _check_films(path: Path, fingerprint: str) -> None:
    try:
        header, _ = unpack(path.read_bytes())
    except OSError as error:
        raise AtlasError(
            f"{path} cannot be read ({error.strerror}): build it with `kvsim atlas`."
        ) from error
    except ContainerError as error:
        raise AtlasError(
            f"{path.name} is damaged ({error}): build it again with `kvsim atlas`."
        ) from error
    if header.get("fingerprint") != fingerprint:
        raise AtlasError(_STALE.format(path.name))
