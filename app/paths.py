"""Where the page's files are: static/ is beside app/ in the source, and inside it in a wheel."""

from pathlib import Path

APP = Path(__file__).resolve().parent
TEMPLATES = APP / "templates"
STATIC = next(folder for folder in (APP / "static", APP.parent / "static") if folder.is_dir())
ATLAS = STATIC / "atlas.bin"
FILMS = STATIC / "films.bin"
PAPER = STATIC / "paper.json"
