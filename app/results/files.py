"""The files of results: an atlas for each workload, films, the paper's figures, and sections'."""

from dataclasses import dataclass

from ..paths import STATIC
from . import overcommit_results, paper_store, sharing_results
from .atlas import Atlas, load
from .atlas_build import PLANS
from .container import read_current, refuse_other_code
from .overcommit_results import OvercommitResults
from .paper_store import Paper
from .sharing_results import SharingResults

FILMS = STATIC / "films.bin"
PAPER = STATIC / "paper.json"
OVERCOMMIT = STATIC / "overcommit.bin"
SHARING = STATIC / "sharing.bin"
ATLASES = {workload: STATIC / f"atlas-{workload}.bin" for workload in PLANS}


@dataclass(frozen=True, eq=False)
class Results:
    """What the page is rendered from: atlases by workload, the paper's figures, and sections'."""

    atlases: dict[str, Atlas]
    paper: Paper
    overcommitted: OvercommitResults
    sharing: SharingResults


def load_results() -> Results:
    """Read everything that the page is made from.

    Raises ``ResultsError`` if a file is missing, damaged, or was built from other model code.
    """
    atlases = {workload: load(path) for workload, path in ATLASES.items()}
    for workload, atlas in atlases.items():
        refuse_other_code(ATLASES[workload].name, atlas.fingerprint, PLANS[workload].fingerprint())
    read_current(FILMS, atlases["exponential"].fingerprint)
    paper = paper_store.load(PAPER)
    paper_store.check_current(paper)
    overcommitted, sharing = overcommit_results.load(OVERCOMMIT), sharing_results.load(SHARING)
    return Results(atlases, paper, overcommitted, sharing)
