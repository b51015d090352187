"""A log as it was at a moment: what came later can't be told, since it is not there."""

from pathlib import Path
from typing import Any

import pytest

from commands.moments import resolve
from domain.errors import NoSuchMoment, NoSuchSession
from domain.ids import SessionId
from domain.refs import parse_ref
from projections.past import as_of
from tests.often import often
from tests.projections.branching import Branch, branches, grown, share
from tests.stories.cast import Stage
from tests.strategies import Wish, turns


@often(8, 20, turns, branches, share, share)
def test_all_that_is_read_was_there(
    steps: list[Wish], more: list[Branch], who: float, when: float
) -> None:
    """Of the session up to the moment, of every other what was recorded before it."""
    with grown(steps, more) as log:
        sessions = log.sessions()
        session = sessions[round(who * (len(sessions) - 1))]
        version = 1 + round(when * (log.head(session).version - 1))
        past = as_of(log, session, version)
        (moment,) = log.pick(session, [version])
        for other in sessions:
            whole = list(log.read(other))
            there = [r for r in whole if r.position <= moment.position]
            if other == session:
                there = whole[:version]
            elif not any(r.session == other for r in there):
                there = []  # it had not begun
            assert list(past.read(other)) == there
            kinds = {r.event.kind for r in whole[::2]}
            wanted: dict[str, Any] = {"kinds": kinds, "newest_first": True, "after": 2, "page": 3}
            assert list(past.read(other, **wanted)) == [
                r for r in reversed(there) if r.event.kind in kinds and r.version > 2
            ]
            versions = [r.version for r in whole]
            assert past.pick(other, versions) == there
            assert past.newest(other, None) == (there[-1] if there else None)
            assert past.newest(other, None, upto=1) == (there[0] if there else None)
            assert past.exists(other) is bool(there)
            if there:
                assert past.head(other) == log.head(other, len(there))
                assert past.state(other) == log.state(other, len(there))
                assert past.state(other, 1) == log.state(other, 1)
                assert resolve(past, other, parse_ref("head")) == len(there)
            if len(there) < len(whole):
                with pytest.raises(NoSuchMoment if there else NoSuchSession):
                    past.state(other, len(there) + 1)


def test_what_is_no_session_is_none(tmp_path: Path) -> None:
    """A name that nobody has ever used is refused as it is now."""
    stage = Stage(tmp_path).begins()
    past = as_of(stage.log, stage.session, 1)
    assert not past.exists(SessionId("nobody"))
    assert past.sessions() == [stage.session]
    with pytest.raises(NoSuchSession):
        past.head(SessionId("nobody"))
    stage.log.close()


def test_refs_are_those_of_the_moment(tmp_path: Path) -> None:
    """The newest draft, the newest exchange and the head are what they were."""
    stage = Stage(tmp_path).begins()
    stage.runs("draft: the first answer of them all")
    then = stage.state.version
    stage.runs("draft: the second answer of them all")
    past = as_of(stage.log, stage.session, then)
    assert resolve(past, stage.session, parse_ref("head")) == then
    assert resolve(past, stage.session, parse_ref("draft:1")) < then
    with pytest.raises(NoSuchMoment, match=r"nearest is draft:1\."):
        resolve(past, stage.session, parse_ref("draft:2"))
    with pytest.raises(NoSuchMoment):
        resolve(past, stage.session, parse_ref("iter:2"))
    stage.log.close()
