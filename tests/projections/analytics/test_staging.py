"""What is written is at its place when it is whole, or never, and nothing is left beside it."""

import fcntl
import os
from pathlib import Path

import pytest

from projections.analytics.files.staging import PREFIX, placed


def _filled(directory: Path, text: str) -> None:
    directory.mkdir()
    (directory / "a").mkdir()
    (directory / "a" / "b").write_text(text)


def test_it_is_there_when_all_of_it_is(tmp_path: Path) -> None:
    """Not a moment before; a place to spill to is beside it, and goes."""
    with placed(tmp_path / "lake") as staging:
        _filled(staging.new, "new")
        (staging.spill / "much").write_text("spilled")
        assert not (tmp_path / "lake").exists()
    assert (tmp_path / "lake" / "a" / "b").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["lake"]


def _broken_off(place: Path, error: type[BaseException], *, replace: bool) -> None:
    with placed(place, replace=replace) as staging:
        _filled(staging.new, "new")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_what_breaks_off_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    """Whatever broke it off; what was to be replaced is as it was."""
    _filled(tmp_path / "old", "old")
    for name, replace in (("lake", False), ("old", True)):
        with pytest.raises(error):
            _broken_off(tmp_path / name, error, replace=replace)
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old" / "a" / "b").read_text() == "old"


def test_what_is_there_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """A directory by a directory, a file by a file."""
    _filled(tmp_path / "lake", "old")
    (tmp_path / "lake" / "more").write_text("old")
    with placed(tmp_path / "lake", replace=True) as staging:
        _filled(staging.new, "new")
    (tmp_path / "file").write_text("old")
    with placed(tmp_path / "file", replace=True) as staging:
        staging.new.write_text("new")
    assert (tmp_path / "lake" / "a" / "b").read_text() == "new"
    assert (tmp_path / "file").read_text() == "new"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "file", "lake"]


def _both(place: Path, kind: str) -> None:
    with placed(place) as second, placed(place) as first:
        for staging, text in ((first, "first"), (second, "second")):
            if kind == "file":
                staging.new.write_text(text)
            else:
                _filled(staging.new, text)


@pytest.mark.parametrize("kind", ["directory", "file"])
def test_who_comes_second_does_not_replace_the_first(tmp_path: Path, kind: str) -> None:
    """Two that write to one place at once: one of them is told."""
    place = tmp_path / "lake"
    with pytest.raises(FileExistsError):
        _both(place, kind)
    found = place if kind == "file" else place / "a" / "b"
    assert found.read_text() == "first"
    assert [path.name for path in tmp_path.iterdir()] == ["lake"]


def test_leftovers_of_the_killed_are_cleared_away(tmp_path: Path) -> None:
    """What nobody writes any more goes; what somebody writes, what is a file or a link stays."""
    dead, alive = tmp_path / f"{PREFIX}dead", tmp_path / f"{PREFIX}alive"
    _filled(dead, "dead")
    _filled(alive, "alive")
    (tmp_path / f"{PREFIX}file").write_text("mine")
    (tmp_path / "mine").mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(tmp_path / "mine")
    lock = os.open(alive, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        with placed(tmp_path / "lake") as staging:
            staging.new.mkdir()
    finally:
        os.close(lock)
    kept = {path.name.removeprefix(PREFIX) for path in tmp_path.iterdir()}
    assert kept == {"alive", "file", "link", "mine", "lake"}


def test_rights_are_those_of_any_directory(tmp_path: Path) -> None:
    """The place can be read by whom the user lets read, not only by the user."""
    (tmp_path / "like").mkdir()
    with placed(tmp_path / "lake") as staging:
        staging.new.mkdir()
    assert (tmp_path / "lake").stat().st_mode == (tmp_path / "like").stat().st_mode
