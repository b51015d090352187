"""What the files of each program become, event by event."""

import json
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from commands.imports import Format
from domain.events import MessageSent
from domain.ids import SessionId
from tests.commands.imports.shelf import FIXTURES, Shelf, texts
from tests.stories.cast import Stage


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """A store with nothing in it."""
    stage = Stage(tmp_path / "store")
    yield Shelf(stage)
    stage.log.close()


@pytest.mark.parametrize(
    ("format_", "file"),
    [
        ("claude-code", "session.jsonl"),
        ("chatgpt", "conversations.json"),
        ("openai-messages", "messages.json"),
        ("openai-messages", "lines.jsonl"),
        ("openai-messages", "training.jsonl"),
        ("markdown", "talk.md"),
        ("markdown", "bold.md"),
        ("markdown", "plain.txt"),
    ],
)
def test_what_a_file_becomes(shelf: Shelf, format_: Format, file: str) -> None:
    """Event by event, with times, actors and causes; and what was left out or changed.

    Among them: parallel tools with results in another order, thoughts, instructions, commands,
    compactions, interruptions, messages without answers, images, regenerated answers, edited
    questions, code that looks like a heading, several forms of names in one file.
    """
    report = shelf.take(format_, file)
    found = [
        f"{one.session}\n{texts(shelf.told(one.session, own=True))}" for one in report.sessions
    ]
    for what, counts in (("left out", report.left_out), ("changed", report.changed)):
        found += [f"{what}: {count} {why}" for why, count in sorted(counts.items())]
    expected = (FIXTURES / f"{file}.told").read_text("utf-8")
    assert "\n\n".join(found) + "\n" == expected


@pytest.mark.parametrize("kind", ["objects", "lists"])
def test_openai_array_of_conversations(shelf: Shelf, kind: str, tmp_path: Path) -> None:
    """So is each element of an array, with its title and model where it has them."""
    talk = [{"role": "user", "content": "tea?"}, {"role": "assistant", "content": "Yes."}]
    objects = [{"title": "Tea", "model": "o9", "id": "t-1", "messages": talk}, {"messages": talk}]
    lists = [talk, talk]
    file = tmp_path / "many.json"
    file.write_text(json.dumps(objects if kind == "objects" else lists), "utf-8")
    report = shelf.take("openai-messages", file)
    assert [one.session for one in report.sessions] == ["tea", "tea-2"]
    if kind == "objects":
        assert "mind:o9" in shelf.told("tea")[3]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("### 🧑 User:", "### 🤖 ChatGPT-4o said:"),
        ("__Human__", "__Claude 3.5 Sonnet__"),
        ("**User**:", "**Assistant**:"),
        ("You said:", "ChatGPT said:"),
        ("# question", "# ANSWER"),
    ],
)
def test_markdown_forms(shelf: Shelf, question: str, answer: str, tmp_path: Path) -> None:
    """The forms in which programs and people save chats are known."""
    file = tmp_path / "chat.md"
    file.write_bytes(f"\ufeff{question}\r\n\r\ntea?\r\n\r\n{answer}\r\n\r\nYes.\r\n".encode())
    shelf.take("markdown", file)
    assert ["asks 'tea?'" in shelf.told("tea")[2], "'Yes.'" in shelf.told("tea")[3]] == [True] * 2


def test_the_zip_that_chatgpt_sends(shelf: Shelf, tmp_path: Path) -> None:
    """It can stay a zip, and its conversations may be in several files."""
    conversations = json.loads((FIXTURES / "conversations.json").read_text("utf-8"))
    file = tmp_path / "export.zip"
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        archive.writestr("chat.html", "<html>")
        for number, one in enumerate(conversations):
            archive.writestr(f"data/conversations-{number:03}.json", json.dumps([one]))
    report = shelf.take("chatgpt", file)
    assert [one.title for one in report.sessions][-1] == "リスボン"
    assert len(report.sessions) == 4


@pytest.mark.parametrize(
    ("format_", "file", "session"),
    [
        ("claude-code", "session.jsonl", "checkout-charges-twice"),
        ("chatgpt", "conversations.json", "why-are-there-two-tides"),
        ("openai-messages", "messages.json", "what-is-the-weather-in-fundy-image"),
        ("markdown", "talk.md", "tides-for-the-class"),
    ],
)
def test_it_is_said_where_a_session_is_from(
    shelf: Shelf, format_: Format, file: str, session: str
) -> None:
    """The second event names the program, the file without its place, and a sha256."""
    shelf.take(format_, file)
    (note,) = shelf.stage.log.pick(SessionId(session), [2])
    said = note.event.text.splitlines()  # type: ignore[attr-defined]
    assert said[0] == f"Imported from {format_}."
    assert said[1] == f"file: {file}"
    assert said[2].startswith("conversation: ")
    assert len(said[3].removeprefix("sha256: ")) == 64
    assert str(FIXTURES) not in texts(shelf.told(session))


def test_all_that_was_imported_proves_and_is_dialogue(shelf: Shelf) -> None:
    """The chains prove, every session folds, and what awaits an answer awaits it here."""
    for format_, file in (("claude-code", "session.jsonl"), ("chatgpt", "conversations.json")):
        shelf.take(format_, file)  # type: ignore[arg-type]
    assert [one.findings for one in shelf.stage.log.verify()] == [()] * 6
    state = shelf.stage.log.state(SessionId("checkout-charges-twice"))
    assert state.dialogue.awaiting is not None
    assert state.dialogue.awaiting.text == "Is it green now?"
    assert state.dialogue.accepted == 3
    branch = shelf.stage.log.state(SessionId("why-are-there-two-tides/branch-2"))
    assert [one.answer for one in branch.dialogue.history] == [
        "Because the Moon pulls unevenly.",
        "It is left behind.",
    ]
    sent = [r for r in shelf.stage.log.feed() if isinstance(r.event, MessageSent)]
    assert all(r.actor == shelf.stage.world.actor for r in sent)
