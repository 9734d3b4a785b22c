"""The command line: ``kvsim serve``, ``export``, ``atlas``, and the commands of the simulation."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from contextlib import nullcontext, suppress
from importlib.metadata import version
from pathlib import Path
from socket import gethostname
from urllib.parse import urlsplit

from kvsim.commands import add_commands
from kvsim.commands.arguments import add_workers, whole
from kvsim.commands.terminal import fail, to_the_end

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
        type=_host,
        default=[],
        metavar="HOST",
        help="a host from whose pages /panel may be reached, as host or host:port; repeatable",
    )
    serve.add_argument(
        "--public-url",
        type=_public_url,
        metavar="URL",
        help="where all the world finds the page; links to it then bring a picture",
    )
    serve.add_argument(
        "--num-procs",
        type=whole(1, 256, "number of processes"),
        default=1,
        metavar="N",
        help="processes that answer on the port; default 1",
    )
    serve.set_defaults(
        run=lambda given: _serve(
            given.port,
            given.address,
            given.allow_origin,
            given.public_url or "",
            given.num_procs,
        )
    )

    export = commands.add_parser("export", help="write the page into one file that works offline")
    export.add_argument("file", type=Path, metavar="FILE", help="such as plate.html")
    export.add_argument(
        "--settings",
        default="",
        metavar="LINK",
        help="what to open with: a link that the page has copied, or its query, such as "
        "'block=64&rate=30&embed=1&theme=dark'",
    )
    export.add_argument("--force", action="store_true", help="write over a file that is there")
    export.set_defaults(run=lambda given: _export(given.file, given.settings, given.force))

    atlas = commands.add_parser("atlas", help="simulate every position of the sliders again")
    atlas.add_argument(
        "--output", type=Path, default=STATIC, metavar="FOLDER", help=f"default {STATIC}"
    )
    add_workers(atlas)
    atlas.set_defaults(run=lambda given: _atlas(given.output, given.workers))

    add_commands(commands)
    given = parser.parse_args(arguments)
    return to_the_end(lambda: given.run(given))


def _host(text: str) -> str:
    """Read a host, with a port or without. Raises ``ArgumentTypeError``."""
    name, _, port = text.partition(":")
    if not re.fullmatch(r"(\*\.)?[\w-][\w.-]*", name) or (
        ":" in text and not re.fullmatch(r"[0-9]{1,5}", port)
    ):
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is no host: give it as in lesson.example or lesson.example:8080"
        )
    return text


def _public_url(text: str) -> str:
    """Read the address of a page. Raises ``ArgumentTypeError``."""
    with suppress(ValueError):
        parts = urlsplit(text)
        if parts.scheme in ("http", "https") and parts.hostname and not parts.query:
            return f"{text.partition('#')[0].rstrip('/')}/"
    raise argparse.ArgumentTypeError(
        f"{text[:80]!r} is no address of a page: give one such as https://example.org/cache/"
    )


def _serve(port: int, address: str, origins: list[str], public_url: str, processes: int) -> int:
    # Panel takes a second to import; the other commands do without it.
    from .processes import lifeline
    from .results.container import ResultsError
    from .serve import DESK, EVERY_ADDRESS, server

    if processes > 1 and not hasattr(os, "fork"):
        return fail("This system cannot serve from several processes: leave --num-procs out.")
    with lifeline() if processes > 1 else nullcontext() as line:
        try:
            serving = server(port, address, origins, public_url, processes)
        except ResultsError as error:
            return fail(str(error))
        except UnicodeError:
            return fail(f"{address[:40]!r} is no address: give a name or a number of this machine.")
        except OSError as error:
            return fail(
                f"Port {port} on {address} cannot be used ({error.strerror}): choose another with "
                "--port, or 0 for any that is free."
            )
        except KeyboardInterrupt:  # in the process that only waits for the others
            return 0
        # Every address of the machine has no name of its own.
        host = gethostname() if address in EVERY_ADDRESS else address
        if line is None or line.hold(serving.io_loop):
            print(f"The plate is at http://{host}:{serving.port}/ (stop with Ctrl-C).", flush=True)
        try:
            serving.run_until_shutdown()
        except KeyboardInterrupt:
            serving.stop()
        finally:
            DESK.answering.close()
    return 0


def _export(path: Path, asked: str, force: bool) -> int:
    from .export import export
    from .results.container import ResultsError

    if path.exists() and not force:
        return fail(f"{path} is there already: name another file, or add --force to replace it.")
    try:
        size = export(path, asked)
    except (ResultsError, ValueError) as error:
        return fail(str(error))
    except OSError as error:
        return fail(f"{path} cannot be written ({error.strerror}): name another place.")
    print(f"{path}: {size:,} bytes, which open in any browser and ask nothing of any host")
    return 0


def _atlas(folder: Path, workers: int | None) -> int:
    from .results import overcommit_results, paper_store, sharing_results
    from .results.atlas_build import PLANS, build
    from .results.build_lock import BusyError, alone_in
    from .results.files import ATLASES, FILMS, OVERCOMMIT, PAPER, SHARING
    from .results.films import build as build_films

    if not os.path.isdir(folder):  # unlike Path's, for any text
        return fail(f"There is no folder {folder} to write the results into: make it first.")
    try:
        with alone_in(folder):
            # The quick ones first.
            paper_store.build(folder / PAPER.name, workers)
            overcommit_results.build(folder / OVERCOMMIT.name)
            sharing_results.build(folder / SHARING.name, workers)
            for workload, plan in PLANS.items():
                build(plan, folder / ATLASES[workload].name, workers)
            build_films(folder / FILMS.name)
    except BusyError:
        return fail(f"Another build is at work in {folder}: wait for it, or name another folder.")
    except BrokenExecutor:
        return fail(
            "A process that simulated was ended from outside, perhaps for want of memory; what is "
            "done is kept, and the same command goes on from there. Fewer --workers need less."
        )
    except OSError as error:
        return fail(f"The results cannot be written to {folder} ({error.strerror}).")
    except KeyboardInterrupt:
        return fail("Stopped; what is done is kept, and the same command goes on from there.")
    for path in (*ATLASES.values(), FILMS, PAPER, OVERCOMMIT, SHARING):
        print(f"{folder / path.name}: {(folder / path.name).stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
