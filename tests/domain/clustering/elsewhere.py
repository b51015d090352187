"""What a child process runs: ``python -m tests.domain.clustering.elsewhere WHAT [ARGUMENT …]``.

It takes no more than the domain does, so that any Python with numpy and pydantic can do it.
"""

import hashlib
import json
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any


class Without:
    """A finder of modules that does not find some: they are not installed here."""

    def __init__(self, finder: Any, names: Sequence[str]) -> None:
        self.finder, self.names = finder, names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Nowhere, for these; the others where they are."""
        if name.partition(".")[0] in self.names:
            return None
        found: ModuleSpec | None = self.finder.find_spec(name, path, target)
        return found


STREAMS: dict[str, dict[str, Any]] = {
    "clear": {"kinds": 8, "noise": 60},
    "blurred": {"kinds": 12, "noise": 300, "seed": 2},
    "many": {"kinds": 20, "noise": 200, "width": 24},
    "wide": {"kinds": 10, "noise": 150, "width": 384, "seed": 4},
}


def decided() -> dict[str, str]:
    """The digests of all that is decided about some streams."""
    from domain.clustering.rules import Rules  # noqa: PLC0415 — the child decides what is missing
    from tests.domain.clustering.streams import Stream, digest, topics  # noqa: PLC0415

    found = {}
    for name, kind in STREAMS.items():
        for each in (5,) if name == "wide" else (1, 5, 20):
            stream = Stream(Rules(founder="linkage")).lives(topics(200, **kind), each)
            found[f"{name} by {each}"] = digest(*stream.decided)
    return found


def founders() -> list[str]:
    """How clusters are founded among so many."""
    from domain.events import ClusterFormed  # noqa: PLC0415
    from tests.domain.clustering.streams import Stream, topics  # noqa: PLC0415

    stream = Stream(room=300)
    stream.arrives(*topics(220))
    return sorted({e.how for e in stream.decided if isinstance(e, ClusterFormed)})


def wanted() -> str:
    """What happens when HDBSCAN is asked for by name."""
    from domain.clustering.rules import Rules  # noqa: PLC0415
    from tests.domain.clustering.streams import Stream, dump, topics  # noqa: PLC0415

    stream = Stream(Rules(founder="hdbscan")).lives(topics(2))
    before = dump(stream.partition)
    try:
        stream.decides(*topics(60))
    except ImportError as error:
        return f"{error.name}, {'as before' if dump(stream.partition) == before else 'changed'}"
    return "nothing"


def compatible() -> list[str]:
    """What the two-phase way founds."""
    from domain.clustering.rules import Rules  # noqa: PLC0415
    from tests.domain.clustering.streams import Stream, topics  # noqa: PLC0415

    return [e.kind for e in Stream(Rules(mode="compatible")).lives(topics(60)).decided]


def folded(directory: str, session: str) -> dict[str, str]:
    """What a recorded session is: its state and its partition, each as a digest."""
    from commands.eventlog import EventLog  # noqa: PLC0415
    from domain.clustering.fold import partition_at  # noqa: PLC0415
    from domain.ids import SessionId  # noqa: PLC0415
    from tests.domain.clustering.streams import dump  # noqa: PLC0415

    with EventLog(Path(directory)) as log:
        state = log.state(SessionId(session))
        partition = partition_at(log, SessionId(session))
        return {
            "pool": sha(repr(state.pool)),
            "labels": sha(repr([(v, partition.label(v)) for v in partition.versions])),
            "partition": sha(repr(dump(partition))),
        }


def sha(text: str) -> str:
    """A text in few letters."""
    return hashlib.sha256(text.encode()).hexdigest()


def main(what: str, *arguments: str) -> None:
    """Do it without the packages that the last argument names: ``-hdbscan,scipy``."""
    if arguments and arguments[-1].startswith("-"):
        *arguments, without = arguments  # type: ignore[assignment]
        names = without[1:].split(",")
        sys.meta_path[:] = [Without(finder, names) for finder in sys.meta_path]
    print(json.dumps(globals()[what](*arguments)))


if __name__ == "__main__":
    main(*sys.argv[1:])
