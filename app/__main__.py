"""The command line: ``kvsim serve``, ``kvsim atlas``, and the commands of the simulation."""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from kvsim.command import add_commands, add_workers, whole

from .paths import ATLAS, PAPER


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return what the shell is told."""
    parser = argparse.ArgumentParser(prog="kvsim", description="Running Out of Cache: the plate.")
    parser.add_argument("--version", action="version", version=f"kvsim {version('kvsim')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="serve the page")
    serve.add_argument(
        "--port",
        type=whole(0, 65535, "port"),
        default=5006,
        help="default 5006; 0 takes a free one",
    )
    serve.add_argument(
        "--address",
        default="localhost",
        help="what to listen on; the default, localhost, is reached from this machine only",
    )
    serve.set_defaults(run=lambda given: _serve(given.port, given.address))

    atlas = commands.add_parser(
        "atlas", help="simulate every position of the sliders, and the paper's figures, again"
    )
    what = atlas.add_mutually_exclusive_group()
    what.add_argument("--output", type=Path, default=ATLAS, help=f"default {ATLAS}")
    what.add_argument(
        "--only-paper",
        action="store_true",
        help="the paper's figures alone, which takes a minute at most",
    )
    add_workers(atlas)
    atlas.set_defaults(run=lambda given: _atlas(given.output, given.workers, given.only_paper))

    add_commands(commands)
    given = parser.parse_args(arguments)
    status: int = given.run(given)
    return status


def _serve(port: int, address: str) -> int:
    # Panel takes a second to import; the other commands do without it.
    from .atlas import AtlasError
    from .paper_store import PaperError
    from .serve import server

    try:
        serving = server(port, address)
    except (AtlasError, PaperError) as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(
            f"Port {port} on {address} cannot be used ({error.strerror}): choose another with "
            "--port, or 0 for any that is free."
        )
    print(f"The plate is at http://{address}:{serving.port}/ (stop with Ctrl-C).", flush=True)
    try:
        serving.run_until_shutdown()
    except KeyboardInterrupt:
        serving.stop()
    return 0


def _atlas(output: Path, workers: int | None, only_paper: bool) -> int:
    from . import paper_store
    from .atlas_build import build

    if not output.parent.is_dir():
        return _fail(f"There is no folder {output.parent} to write the atlas into: make it first.")
    if output.is_dir():
        return _fail(f"{output} is a folder: name the file that the atlas is to be written to.")
    # The page's own figures go with the page's own atlas; they are quick, and so come first.
    written = [PAPER] if only_paper else [PAPER, output] if output == ATLAS else [output]
    try:
        for path in written:
            (paper_store.build if path == PAPER else build)(path, workers)
            print(f"{path}: {path.stat().st_size:,} bytes")
    except OSError as error:
        return _fail(f"{path} cannot be written ({error.strerror}).")
    except KeyboardInterrupt:
        return _fail("Stopped; what is done is kept, and the same command goes on from there.")
    return 0


def _fail(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
