"""A process to be killed while it makes a store: warm, so that the kill falls into the making.

``python -m tests.faults.init_driver STORE NAME``: says "ready", waits for a line, runs
``mind init``, says with which code it ended.
"""

import importlib
import sys

from cli.main import run


def main(store: str, name: str) -> None:
    """Make the store as the command line would."""
    for module in ("cli.sessions", "commands.eventlog"):
        importlib.import_module(module)
    print("ready", flush=True)
    sys.stdin.readline()
    sys.argv = ["mind", "init", store, "why?", "--name", name, "--thought", "a", "--thought", "b"]
    try:
        run()
    except SystemExit as end:
        print(end.code or 0, flush=True)
    else:
        print(0, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
