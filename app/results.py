"""The files of results: an atlas for each workload, films, the paper's figures, and sharing."""

from dataclasses import dataclass
from pathlib import Path

from . import paper_store, sharing_results
from .atlas import Atlas, AtlasError, load
from .atlas_build import PLANS
from .container import ContainerError, unpack
from .paper_store import Paper
from .paths import STATIC
from .sharing_results import SharingResults

FILMS = STATIC / "films.bin"
PAPER = STATIC / "paper.json"
SHARING = STATIC / "sharing.bin"
ATLASES = {workload: STATIC / f"atlas-{workload}.bin" for workload in PLANS}
_STALE = (
    "{0} was built from other model code than is here, so its numbers may be wrong: build it "
    "again with `kvsim atlas`."
)


@dataclass(frozen=True, eq=False)
class Results:
    """What the page is rendered from: atlases by workload, the paper's figures, and sharing."""

    atlases: dict[str, Atlas]
    paper: Paper
    sharing: SharingResults


def load_results() -> Results:
    """Read everything that the page is made from.

    Raises ``ResultsError`` if a file is missing, damaged, or was built from other model code.
    """
    atlases = {workload: load(path) for workload, path in ATLASES.items()}
    for workload, atlas in atlases.items():
        if atlas.fingerprint != PLANS[workload].fingerprint():
            raise AtlasError(_STALE.format(ATLASES[workload].name))
    _check_films(FILMS, atlases["exponential"].fingerprint)
    paper = paper_store.load(PAPER)
    paper_store.check_current(paper)
    sharing = sharing_results.load(SHARING)
    sharing_results.check_current(sharing)
    return Results(atlases, paper, sharing)


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
