"""The command line: ``kvsim serve``, ``kvsim atlas``, and the commands of the simulation."""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from kvsim.command import add_commands, add_workers, whole

from .paths import ATLAS


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

    atlas = commands.add_parser("atlas", help="simulate every position of the sliders again")
    atlas.add_argument("--output", type=Path, default=ATLAS, help=f"default {ATLAS}")
    add_workers(atlas)
    atlas.set_defaults(run=lambda given: _atlas(given.output, given.workers))

    add_commands(commands)
    given = parser.parse_args(arguments)
    status: int = given.run(given)
    return status


def _serve(port: int, address: str) -> int:
    # Panel takes a second to import; the other commands do without it.
    from .atlas import AtlasError
    from .serve import server

    try:
        serving = server(port, address)
    except AtlasError as error:
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


def _atlas(output: Path, workers: int | None) -> int:
    from .atlas_build import build

    if not output.parent.is_dir():
        return _fail(f"There is no folder {output.parent} to write the atlas into: make it first.")
    if output.is_dir():
        return _fail(f"{output} is a folder: name the file that the atlas is to be written to.")
    try:
        build(output, workers)
    except OSError as error:
        return _fail(f"The atlas cannot be written to {output} ({error.strerror}).")
    except KeyboardInterrupt:
        return _fail("Stopped; what is done is kept, and the same command goes on from there.")
    print(f"{output}: {output.stat().st_size:,} bytes")
    return 0


def _fail(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
