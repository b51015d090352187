"""Notes in the margin."""

from pathlib import Path

import pytest

from commands.notes import AddNote
from domain.errors import BadText, NoSuchMoment
from tests.domain.happened import asked, drafted, invoked, noted
from tests.spec import given
from tests.stories.cast import Rehearsed, Stage

HOUR = 3_600_000_000


def test_a_note_knows_what_it_is_about_and_when_it_was_written() -> None:
    """Each event is named once, in the order given; the iteration is the newest."""
    given(asked(), invoked(1), drafted(1, "The Moon pulls.")).when(
        AddNote(text="  too short\n", about=(4, 2, 4))
    ).then(noted("too short", 4, 2, iteration=1))


@pytest.mark.parametrize("version", [0, -1, 3])
def test_a_note_is_about_what_has_happened(version: int) -> None:
    """Not about the future, nor about nothing."""
    given(asked()).when(AddNote(text="x", about=(version,))).refused(NoSuchMoment, f"{version}")


@pytest.mark.parametrize("text", ["", " \n", "a\0b", "x" * 200_001])
def test_a_note_is_a_text(text: str) -> None:
    """Under the same rules as a message."""
    given(asked()).when(AddNote(text=text)).refused(BadText, "The note")


def test_the_mind_never_sees_a_note(tmp_path: Path) -> None:
    """It changes nothing of what a mind is asked, to the letter."""
    prompts = []
    for name in ("with", "without"):
        stage, mind = Stage(tmp_path / name).begins(embedding_model="off"), Rehearsed("draft: a")
        if name == "with":
            stage.does(AddNote(text="The user seems tired."))
        stage.world.time += HOUR - stage.world.time % HOUR  # a mind is told the time
        stage.runs(mind=mind)
        prompts += [request.prompt for request in mind.requests]
        stage.log.close()
    assert "tired" not in prompts[0]
    assert prompts[0] == prompts[1]
