"""What the contract's tests start as processes of their own.

python driver.py write STORE SESSION APPENDS [EVENTS]   begins SESSION if need be, and appends
python driver.py create STORE                           waits for a line, and makes the store
python driver.py race STORE ROUNDS                      appends behind versions 1, 2, 3 … of main
"""

import sys

from commands.eventlog import EventLog
from commands.eventlog.place import place_of
from domain.errors import LostRace, StoreExists
from domain.ids import SessionId
from tests.commands.eventlog.stores import MAIN, begin, draw, grow, thought


def write(store: str, session: str, appends: str, events: str = "1") -> None:
    """Say the version behind each append that was acknowledged."""
    with EventLog(place_of(store)) as log:
        if not log.exists(SessionId(session)):
            begin(log, session)
        for _ in range(int(appends)):
            print(grow(log, session, int(events)).version, flush=True)


def create(store: str) -> None:
    """Say whether it was made, or was there, and which sessions are in it."""
    sys.stdin.readline()
    try:
        log = EventLog.create(place_of(store))
        print("made", flush=True)
    except StoreExists:
        log = EventLog(place_of(store))
        print("exists", flush=True)
    with log:
        begin(log, f"of/{sys.argv[3]}")


def race(store: str, rounds: str, name: str) -> None:
    """Say the versions that this one was first at."""
    with EventLog(place_of(store)) as log:
        print("ready", flush=True)
        sys.stdin.readline()
        for version in range(1, int(rounds) + 1):
            wish = (1 << 40) + int(name) * 10_000 + version
            while log.head(MAIN).version < version:
                pass
            try:
                log.append(MAIN, version, draw(thought(f"{name} at {version}"), wish=wish))
                print(version + 1, flush=True)
            except LostRace:
                pass


if __name__ == "__main__":
    verb, *words = sys.argv[1:]
    if verb == "create":
        create(words[0])
    else:
        {"write": write, "race": race}[verb](*words)
