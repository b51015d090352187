"""Long conversations, in all formats: every word arrives, in order, and memory stays flat."""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from commands.eventlog import EventLog
from commands.imports import FORMATS, Format
from domain.events import DraftAccepted, DraftEmitted, MessageSent
from domain.ids import SessionId
from domain.log import Log
from tests.commands.imports.shelf import Shelf
from tests.conversations.formats import FILES, claude_code, markdown, openai_messages, times, write
from tests.conversations.formats import chatgpt as as_chatgpt
from tests.conversations.generate import conversation
from tests.stories.cast import Stage

ROOT = Path(__file__).resolve().parents[3]


def talk_of(log: Log, session: SessionId) -> list[tuple[str, str]]:
    """The accepted exchanges of a session."""
    found: list[tuple[str, str]] = []
    question, drafts = "", {}
    for recorded in log.read(session):
        match recorded.event:
            case MessageSent(text=text):
                question, drafts = text, {}
            case DraftEmitted(index=index, text=text):
                drafts[index] = text
            case DraftAccepted(index=index):
                found.append((question, drafts[index]))
    return found


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(
    "tokens", [58_000, pytest.param(240_000, marks=pytest.mark.slow)], ids=["58k", "240k"]
)
def test_every_exchange_arrives(format_: Format, tokens: int, tmp_path: Path) -> None:
    """Word by word and at its time; what was exported again is the same in another store."""
    talk = conversation(11, tokens)
    file = tmp_path / FILES[format_]
    write(format_, file, talk)
    shelf = Shelf(Stage(tmp_path / "store"))
    shelf.take(format_, file)
    (session,) = shelf.stage.log.sessions()
    expected = [(one.question.strip(), one.answer.strip()) for one in talk]
    assert talk_of(shelf.stage.log, session) == expected
    if format_ in {"claude-code", "chatgpt"}:
        sent = shelf.stage.log.read(session, kinds=["message.sent"])
        asked = [at for at, _ in times(talk)]
        assert [
            abs((r.when - at).total_seconds()) < 0.001 for r, at in zip(sent, asked, strict=True)
        ]
    bundle = tmp_path / "talk.mind"
    shelf.stage.log.export(session, bundle)
    with EventLog.create(_made(tmp_path / "other")) as other:
        other.take_over(bundle)
        assert talk_of(other, session) == expected
        assert not [one for one in other.verify() if one.findings]
    shelf.stage.log.close()


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory


_CHILD = """
import resource, sys
from pathlib import Path
from commands.eventlog import EventLog
from commands.imports import import_file
from commands.world import RealWorld
from domain.actors import Actor
store, format_, file = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
store.mkdir()
with EventLog.create(store) as log:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = import_file(log, format_, file, RealWorld(Actor("user", "ann")))
print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, report.total("exchanges"))
"""


def _large(format_: Format, file: Path, size: int) -> None:
    """A file of at least so many bytes, of one conversation where the format holds one."""
    talk = conversation(1, 60_000)
    number, parent = 0, None
    with file.open("w", encoding="utf-8") as out:
        out.write({"chatgpt": "[", "openai-messages": '{"messages": ['}.get(format_, ""))
        while out.tell() < size:
            if format_ == "chatgpt":
                out.write((", " if number else "") + json.dumps(as_chatgpt(talk, number)))
            elif format_ == "markdown":
                out.write(markdown(talk) + "\n")
            elif format_ == "openai-messages":
                told = [json.dumps(one) for one in openai_messages(talk)]
                out.write((", " if number else "") + ", ".join(told))
            else:
                for line in claude_code(talk, number):
                    if "uuid" in line:
                        line["parentUuid"], parent = line["parentUuid"] or parent, line["uuid"]
                    out.write(json.dumps(line) + "\n")
            number += 1
        out.write({"chatgpt": "]", "openai-messages": "]}"}.get(format_, ""))


@pytest.mark.slow
@pytest.mark.parametrize("format_", FORMATS)
def test_memory_stays_flat(format_: Format, tmp_path: Path) -> None:
    """Of 10 times as large a file, little more is in memory: at most a third of what was added."""
    used = []
    for size in (4_000_000, 40_000_000):
        file = tmp_path / f"{size}"
        _large(format_, file, size)
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, str(tmp_path / f"store-{size}"), format_, str(file)],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        before, after, exchanges = map(int, done.stdout.split())
        assert exchanges > size / 10_000
        used.append((after - before) * 1024)
    assert all(more - less < 36_000_000 / 3 for less, more in pairwise(used)), used
