"""The files of results: an atlas for each workload, films, the paper's figures, and sections'."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..overcommit import Overcommitted
from ..paths import STATIC
from . import overcommit_results, paper_store, sharing_results
from .atlas import Atlas, AtlasError, load
from .atlas_build import PLANS
from .container import ContainerError, unpack
from .paper_store import Paper
from .sharing_results import SharingResults

FILMS = STATIC / "films.bin"
PAPER = STATIC / "paper.json"
OVERCOMMIT = STATIC / "overcommit.bin"
SHARING = STATIC / "sharing.bin"
ATLASES = {workload: STATIC / f"atlas-{workload}.bin" for workload in PLANS}
_STALE = (
    "{0} was built from other model code than is here, so its numbers may be wrong: build it "
    "again with `kvsim atlas`."
)


@dataclass(frozen=True, eq=False)
class Results:
    """What the page is rendered from: atlases by workload, the paper's figures, and sections'."""

    atlases: dict[str, Atlas]
    paper: Paper
    overcommitted: Overcommitted
    sharing: SharingResults


def load_results() -> Results:
    """Read everything that the page is made from.

    Raises ``ResultsError`` if a file is missing, damaged, or was built from other model code.
    """
    atlases = {workload: load(path) for workload, path in ATLASES.items()}
    for workload, atlas in atlases.items():
        if atlas.fingerprint != PLANS[workload].fingerprint():
            raise AtlasError(_STALE.format(ATLASES[workload].name))
    _contents(FILMS, atlases["exponential"].fingerprint)
    overcommitted = Overcommitted(*_contents(OVERCOMMIT, overcommit_results.current_fingerprint()))
    paper = paper_store.load(PAPER)
    paper_store.check_current(paper)
    sharing = sharing_results.load(SHARING)
    sharing_results.check_current(sharing)
    return Results(atlases, paper, overcommitted, sharing)


def _contents(path: Path, fingerprint: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a file that was built from the code with that fingerprint."""
    try:
        header, arrays = unpack(path.read_bytes())
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
    return header, arrays
