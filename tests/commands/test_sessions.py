"""Beginning sessions, changing settings, naming moments, putting sessions away."""

from pathlib import Path
from typing import Any

import pytest

from commands.forks import fork_session
from commands.sessions import (
    ArchiveSession,
    ChangeConfig,
    LabelMoment,
    RenameSession,
    RestoreSession,
    start_session,
)
from domain.config import Config
from domain.errors import BadSetting, BadText, NothingChanges, Refused, SessionExists
from domain.events import (
    Caused,
    SessionArchived,
    SessionLabelled,
    SessionRenamed,
    SessionRestored,
    SessionStarted,
)
from domain.ids import SessionId
from tests.domain.happened import asked, configured, invoked, thought
from tests.spec import given
from tests.stories.cast import Stage, kinds


def test_a_setting_is_changed() -> None:
    """The event says what it was and what it is."""
    state = (
        given()
        .when(ChangeConfig(key="token_limit", value="800"))
        .then(configured("token_limit", 4000, 800))
    )
    assert state.config.token_limit == 800


def test_a_setting_is_switched_off() -> None:
    """``off`` is no value at all, where a setting can be off."""
    given(configured("budget_usd", None, 2.5)).when(
        ChangeConfig(key="budget_usd", value="off")
    ).then(configured("budget_usd", 2.5, None))


def test_the_same_value_changes_nothing() -> None:
    """Nothing is recorded, however the value is written."""
    given().when(ChangeConfig(key="timeout", value="180")).then()
    given().when(ChangeConfig(key="temperature", value="OFF")).then()


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("colour", "blue", "There is no setting 'colour': choose one of model, token_limit"),
        ("token_limit", "many", "does not take 'many': it is a whole number from 16 to 200000"),
        ("token_limit", "off", "a whole number from 16 to 200000"),
        ("model", "gpt", "names no mind"),
        ("model", "", "The setting model does not take ''"),
    ],
)
def test_a_change_that_is_refused(key: str, value: str, sentence: str) -> None:
    """A wrong key or value is refused with what would be right, and nothing changes."""
    given().when(ChangeConfig(key=key, value=value)).refused(BadSetting, sentence)


def test_a_smaller_pool_forgets_at_once() -> None:
    """The newest thoughts stay."""
    state = (
        given(*(thought(f"thought {n}") for n in range(5)))
        .when(ChangeConfig(key="active_pool_size", value="2"))
        .then(configured("active_pool_size", 50, 2))
    )
    assert [t.text for t in state.pool.active] == ["thought 3", "thought 4"]


def test_a_moment_gets_a_label() -> None:
    """Any moment up to now; the label's cause is the event that it names."""
    for version in (1, 3):
        wish = given(asked(), invoked(1)).when(LabelMoment(label="früh-2.0_b", version=version))
        event = SessionLabelled(label="früh-2.0_b", version=version)
        assert wish.decided() == [Caused(event, cause=version)]


@pytest.mark.parametrize(
    "label", ["", "-", "two words", "@home", "a/b", "a\n", "a\0", "x" * 81, "~2", "exc:1"]
)
def test_a_label_that_can_not_be_typed(label: str) -> None:
    """A label is one plain word, since it is written behind an @."""
    given(asked()).when(LabelMoment(label=label, version=1)).refused(BadText, "can't be a label")


@pytest.mark.parametrize("version", [0, -1, 3])
def test_a_label_for_no_moment(version: int) -> None:
    """A moment that has not come can't be named."""
    given(asked()).when(LabelMoment(label="later", version=version)).refused(
        BadSetting, "from 1 to 2"
    )


def test_a_session_begins_with_all_settings(tmp_path: Path) -> None:
    """So that later defaults change nothing in it; the title is the name unless said otherwise."""
    stage = Stage(tmp_path).begins(None, token_limit=100)
    (first,) = stage.history()
    assert isinstance(first.event, SessionStarted)
    assert first.event.title == "tides"
    assert first.event.config == {
        **Config().model_dump(),
        "model": "script:rehearsed",
        "token_limit": 100,
    }
    assert (first.version, first.actor, stage.state.seed) == (1, stage.world.actor, 7)


def test_a_session_begins_with_its_first_message(tmp_path: Path) -> None:
    """Both in one append: there is no moment in between."""
    stage = Stage(tmp_path).begins("  why two tides?\n")
    history = stage.history()
    assert kinds(history) == ["session.started", "message.sent"]
    assert history[0].command == history[1].command
    assert history[1].event == asked("why two tides?")


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"message": " "}, BadText),
        ({"message": "a\0b"}, BadText),
        ({"settings": {"colour": "blue"}}, BadSetting),
        ({"settings": {"token_limit": 1}}, BadSetting),
        ({"settings": {"model": "gpt"}}, BadSetting),
    ],
)
def test_a_beginning_that_is_refused(
    tmp_path: Path, wrong: dict[str, Any], error: type[Exception]
) -> None:
    """Nothing is begun."""
    stage = Stage(tmp_path)
    with pytest.raises(error):
        start_session(stage.log, stage.session, stage.world, **wrong)
    assert stage.log.sessions() == []


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    """The session that was first stays as it is."""
    stage = Stage(tmp_path).begins("first")
    with pytest.raises(SessionExists, match="choose another name"):
        start_session(stage.log, stage.session, stage.world, message="second")
    assert len(stage.history()) == 2


def test_a_session_gets_another_title() -> None:
    """On one line, however it was typed; the name stays."""
    state = (
        given()
        .when(RenameSession(title="  Why there are\n two tides "))
        .then(SessionRenamed(title="Why there are two tides"))
    )
    assert (state.id, state.title) == ("tides", "Why there are two tides")


@pytest.mark.parametrize(
    ("title", "error", "sentence"),
    [
        ("Tides", NothingChanges, "The title of session 'tides' is 'Tides' already."),
        (" \n", BadText, "The title is empty"),
        ("a\0b", BadText, "binary"),
    ],
)
def test_a_title_that_is_refused(title: str, error: type[Refused], sentence: str) -> None:
    """The same again, none at all, or no text."""
    given().when(RenameSession(title=title)).refused(error, sentence)


@pytest.mark.parametrize("reason", [None, "a dead end"])
def test_a_session_is_put_away(reason: str | None) -> None:
    """In the middle of an exchange too; nothing else of it changes."""
    before = given(asked()).session
    state = given(asked()).when(ArchiveSession(reason=reason)).then(SessionArchived(reason=reason))
    assert state.archived
    assert state.dialogue == before.dialogue


def test_an_archived_session_is_brought_back() -> None:
    """And may be put away again."""
    state = given(SessionArchived()).when(RestoreSession()).then(SessionRestored())
    assert not state.archived
    given(SessionArchived(), SessionRestored()).when(ArchiveSession()).then(SessionArchived())


def test_putting_away_what_is_away_changes_nothing() -> None:
    """Nor does bringing back what is there; both say what would."""
    given(SessionArchived()).when(ArchiveSession()).refused(
        NothingChanges, "mind archive --undo tides"
    )
    given().when(RestoreSession()).refused(NothingChanges, "'tides' is not archived")
    given().when(ArchiveSession(reason=" ")).refused(BadText, "The reason is empty")


def test_a_branch_of_an_archived_session_is_not_archived(tmp_path: Path) -> None:
    """Whoever branches off there wants to work; the parent stays away."""
    stage = Stage(tmp_path).begins()
    stage.does(ArchiveSession())
    child = SessionId("tides/b")
    fork_session(stage.log, stage.session, stage.state.version, child, stage.world)
    assert stage.state.archived
    assert not stage.log.state(child).archived
