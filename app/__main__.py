"""The command line: ``kvsim serve``, ``kvsim atlas``, and the commands of the simulation."""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from socket import gethostname

from kvsim.command import add_commands, add_workers, whole

from .paths import STATIC


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
    serve.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="HOST",
        help="a host from whose pages /panel may be reached, as host or host:port; repeatable",
    )
    serve.set_defaults(run=lambda given: _serve(given.port, given.address, given.allow_origin))

    atlas = commands.add_parser("atlas", help="simulate every position of the sliders again")
    atlas.add_argument(
        "--output", type=Path, default=STATIC, metavar="FOLDER", help=f"default {STATIC}"
    )
    add_workers(atlas)
    atlas.set_defaults(run=lambda given: _atlas(given.output, given.workers))

    add_commands(commands)
    given = parser.parse_args(arguments)
    status: int = given.run(given)
    return status


def _serve(port: int, address: str, origins: list[str]) -> int:
    # Panel takes a second to import; the other commands do without it.
    from .container import ResultsError
    from .serve import server

    try:
        serving = server(port, address, origins)
    except ResultsError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(
            f"Port {port} on {address} cannot be used ({error.strerror}): choose another with "
            "--port, or 0 for any that is free."
        )
    # Every address of the machine has no name of its own.
    host = gethostname() if address in ("0.0.0.0", "::", "") else address
    print(f"The plate is at http://{host}:{serving.port}/ (stop with Ctrl-C).", flush=True)
    try:
        serving.run_until_shutdown()
    except KeyboardInterrupt:
        serving.stop()
    return 0


def _atlas(folder: Path, workers: int | None) -> int:
    from . import paper_store, sharing_results
    from .atlas_build import PLANS, build
    from .films import build as build_films
    from .results import ATLASES, FILMS, PAPER, SHARING

    if not folder.is_dir():
        return _fail(f"There is no folder {folder} to write the results into: make it first.")
    try:
        # The quick ones first.
        paper_store.build(folder / PAPER.name, workers)
        sharing_results.build(folder / SHARING.name, workers)
        for workload, plan in PLANS.items():
            build(plan, folder / ATLASES[workload].name, workers)
        build_films(folder / FILMS.name)
    except OSError as error:
        return _fail(f"The results cannot be written to {folder} ({error.strerror}).")
    except KeyboardInterrupt:
        return _fail("Stopped; what is done is kept, and the same command goes on from there.")
    for path in (*ATLASES.values(), FILMS, PAPER, SHARING):
        print(f"{folder / path.name}: {(folder / path.name).stat().st_size:,} bytes")
    return 0


def _fail(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
