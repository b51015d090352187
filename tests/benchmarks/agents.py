"""What a server takes for many agents at once: python -m tests.benchmarks.agents [--quick].

50 clients draft an agent each and say 40 things, without waiting for answers; a recorded model
answers at once, so that what is measured is all ours: the socket, the rules, the log, the stream.
The floor is what SQLite alone takes for as many rows in as many transactions.
"""

import argparse
import asyncio
import sqlite3
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.cli.rpc.crowd import crowd, logged

TRANSACTIONS = 3
"""Appends of a prompt, each of them durable before anybody is told."""

STATE = bytes(350)
"""A row of about the size of a prompt's events, with its chain hash."""


def floor(prompts: int) -> float:
    """Seconds of CPU for as many transactions on a table of the same form."""
    with TemporaryDirectory() as directory:
        connection = sqlite3.connect(Path(directory) / "floor.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(
            "CREATE TABLE events (id INTEGER PRIMARY KEY, stream TEXT, version INTEGER, kind TEXT,"
            " state BLOB, UNIQUE (stream, version))"
        )
        insert = "INSERT INTO events (stream, version, kind, state) VALUES (?,?,?,?)"
        began = time.process_time()
        for number in range(prompts * TRANSACTIONS):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(insert, (f"agent-{number % 50}", number, "turn.completed", STATE))
            connection.execute("COMMIT")
        took = time.process_time() - began
        connection.close()
    return took


def main() -> None:
    """Let it happen, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the clients and prompts")
    clients, prompts = (5, 4) if parser.parse_args().quick else (50, 40)
    total = clients * prompts
    with TemporaryDirectory() as directory:
        store = Path(directory)
        talked = asyncio.run(crowd(store, clients, prompts))
        turns = logged(store)
    wanted = [f"answer {number}" for number in range(prompts)]
    whole = sum([text for _, text in one] == wanted for one in turns)
    least = floor(total)
    rows = [
        ("clients, prompts", f"{clients}, {total}"),
        ("answered in order on the wire", f"{talked.answers.count(wanted)} of {clients}"),
        ("answered in order in the log", f"{whole} of {clients}"),
        ("prompts a second, answers streamed", f"{total / talked.seconds:.0f}"),
        ("CPU of the server a prompt", f"{1000 * talked.cpu / total:.1f} ms"),
        ("CPU of three transactions of SQLite", f"{1000 * least / total:.2f} ms"),
        ("times the floor", f"{talked.cpu / least:.0f}"),
        ("memory of the server, first tenth", f"{talked.memory[0] / 1024:.0f} MiB"),
        ("memory of the server, last tenth", f"{talked.memory[-1] / 1024:.0f} MiB"),
    ]
    print("| figure | value |\n|---|---:|")
    for name, value in rows:
        print(f"| {name} | {value} |")


if __name__ == "__main__":
    main()
