"""What a server holds: asks tests/counting_server.py, and waits until something is gone."""

import json
import sys
import time
from pathlib import Path
from urllib.request import urlopen

COUNTING = (sys.executable, str(Path(__file__).with_name("counting_server.py")))
PATIENCE_S = 60


def counts(url):
    """What the server holds, but for the connection that asks."""
    with urlopen(f"{url}counts") as response:
        told = json.load(response)
    return told | {"connections": told["connections"] - 1}


def wait_until_gone(url, *names):
    """The counts, once those of ``names`` are 0; what is closed is not gone at once."""
    patience = time.monotonic() + PATIENCE_S
    while True:
        told = counts(url)
        if not any(told[name] for name in names):
            return told
        assert time.monotonic() < patience, told
        time.sleep(0.2)
