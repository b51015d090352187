"""What the tests of imports share: a store, the fixtures, and events in a few words."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from commands.imports import Format, Options, Report, import_file
from commands.imports.files import look_at, silent
from commands.imports.sources import reader
from commands.imports.talk import Turn
from domain.events import (
    DraftAccepted,
    DraftEmitted,
    MessageSent,
    NoteAdded,
    SessionForked,
    SessionStarted,
    ThoughtAdded,
    ToolUsed,
)
from domain.ids import SessionId
from domain.recorded import Recorded
from tests.stories.cast import Stage

FIXTURES = Path(__file__).parent / "fixtures"


class Shelf(NamedTuple):
    """A store that conversations are imported into."""

    stage: Stage

    def take(self, format_: Format, file: Path | str, **options: Any) -> Report:
        """Import a file, or one of the fixtures."""
        path = FIXTURES / file if isinstance(file, str) else file
        return import_file(self.stage.log, format_, path, self.stage.world, Options(**options))

    def told(self, session: str, *, own: bool = False) -> list[str]:
        """What happened in a session, an event a line; of a branch, its own events alone."""
        log, name = self.stage.log, SessionId(session)
        after = log.path(name)[0].after if own else 0
        return [line(recorded) for recorded in log.read(name, after=after)]

    @property
    def position(self) -> int:
        """How many events the store has."""
        return self.stage.log.position()


def line(recorded: Recorded) -> str:
    """An event in a few words: who, what, and why."""
    match recorded.event:
        case SessionStarted() as e:
            said = f"starts {e.title!r}"
        case SessionForked() as e:
            said = f"forks {e.parent}@{e.at_version}: {e.reason}"
        case MessageSent() as e:
            said = f"{e.exchange} asks {e.text!r}"
        case DraftEmitted() as e:
            said = f"{e.exchange} draft {e.index} {e.text!r}"
        case DraftAccepted() as e:
            said = f"{e.exchange} accepts {e.index}"
        case ToolUsed() as e:
            failed = " (failed)" if e.failed else ""
            said = f"{e.exchange} uses {e.name} {e.arguments} → {e.result!r}{failed}"
        case ThoughtAdded() as e:
            said = f"thinks {e.text!r} ({e.origin})"
        case NoteAdded() as e:
            said = f"notes {e.text!r}"
        case e:
            said = e.kind
    because = f" ←{recorded.cause}" if recorded.cause is not None else ""
    return f"{recorded.version} {recorded.when:%H:%M:%S} {recorded.actor} {said}{because}"


def turns(format_: Format, path: Path) -> list[Turn]:
    """All turns of the ways that the talks of a file went."""
    read = reader(format_)(look_at(path), Report(), silent)
    return [turn for conversation in read for turn in conversation.turns()]


def texts(lines: Iterable[str]) -> str:
    """Lines as one text, to be compared."""
    return "\n".join(lines)
