"""Reports on the command line: tables, charts, pages, JSON."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import pytest

from tests.cli.conftest import Mind, lived

pytest.importorskip("duckdb")


@pytest.fixture
def mind(within: Mind) -> Mind:
    """Many commands, none of them a process of its own."""
    return within


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two drafts, a +1 and an answer, and a branch, of which reports were asked."""
    fork = ("fork", "what-if", "--at", "draft:1", "--stay")
    home = tmp_path_factory.mktemp("template")
    return lived(home, ("run", "3"), ("accept", "2"), fork, ("report", "overview"))


@pytest.fixture
def answered(mind: Mind, template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mind:
    """Runs `mind` on a copy of it."""
    shutil.copytree(template, tmp_path / "thinking")
    monkeypatch.setenv("MIND_STORE", str(tmp_path / "thinking"))
    return mind


def test_all_reports_are_listed_without_a_store(mind: Mind) -> None:
    """Whoever asks for none is shown which there are; programs get whole contracts."""
    listed = mind("report")
    assert listed.code == 0
    assert listed.out == mind("report", "--list").out
    names = [line.split()[0] for line in listed.out.splitlines()[1:]]
    assert {"overview", "drafts", "acceptance", "branches", "lineage"} <= set(names)
    contracts = mind("report", "--list", "--json").data
    assert [contract["report"] for contract in contracts] == names
    columns = contracts[0]["sections"]["presence"]["columns"]
    assert columns[0] == {
        "name": "presence",
        "unit": "text",
        "about": "absent, reviewing or engaged",
    }


def test_a_report_is_tables_with_what_they_mean(answered: Mind, tmp_path: Path) -> None:
    """Numbers on stdout; what is going on, as that the database was built, on stderr."""
    (tmp_path / "thinking" / "analytics.duckdb").unlink()
    ran = answered("report", "drafts")
    assert ran.code == 0
    assert re.search(r"^drafts +2 +candidate answers", ran.out, re.MULTILINE)
    assert re.search(r"^exc_1_000 +2 +1 +0 +0 +\d+ +0\.\d\d +2 +why two", ran.out, re.MULTILINE)
    assert "analytics.duckdb" in ran.err
    assert "analytics.duckdb" not in answered("report", "drafts").err


def test_every_report_can_be_told(answered: Mind) -> None:
    """None of them breaks on an ordinary session, nor on its branch."""
    for contract in answered("report", "--list", "--json").data:
        assert answered("report", contract["report"], "--plot").code == 0, contract["report"]
        for session in ("main", "what-if"):
            data = answered("report", contract["report"], "-s", session, "--json").data
            assert data["session"] == session
            assert data["sections"].keys() == contract["sections"].keys()


def test_json_has_everything(answered: Mind) -> None:
    """Names of columns, whole texts, times as ISO in UTC, what is not there as null."""
    data = answered("report", "acceptance", "--json").data
    assert (data["report"], data["session"]) == ("acceptance", "main")
    assert data["version"] == answered("status", "--json").data["version"]
    (row,) = data["sections"]["exchanges"]
    assert row["accepted"] == 2
    assert row["presence"] == "absent"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00", row["at"])
    steps = answered("report", "drafts", "--json").data["sections"]["steps"]
    assert steps[0]["edits"] is None
    assert steps[0]["text"].startswith("The Moon pulls the near water")


def test_the_past_is_told_as_it_was(answered: Mind) -> None:
    """`--at` and `mind at` are the same; a ref may name another session."""
    then = answered("report", "overview", "--at", "draft:1", "--json").data
    assert then == answered("at", "draft:1", "report", "overview", "--json").data
    (facts,) = then["sections"]["facts"]
    assert (facts["drafts"], facts["accepted"], facts["version"]) == (1, 0, then["version"])
    there = answered("report", "overview", "--at", "what-if@head", "--json").data
    assert (there["session"], there["sections"]["facts"][0]["inherited"]) == (
        "what-if",
        then["version"],
    )


@contextmanager
def read_only(directory: Path) -> Iterator[None]:
    """Nothing can be written there meanwhile, whoever we are."""
    mode, user = directory.stat().st_mode, os.geteuid()
    directory.chmod(0o555)
    if user == 0:  # whom no mode holds back
        os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(user, user, user)
        directory.chmod(mode)


def test_where_nothing_can_be_written(mind: Mind, template: Path) -> None:
    """The database is made elsewhere, for this question, and nothing is left of it."""
    with TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        store = shutil.copytree(template, Path(place) / "thinking")
        (store / "analytics.duckdb").unlink(missing_ok=True)
        before, others = sorted(store.iterdir()), set(Path(gettempdir()).glob("mind-*"))
        with read_only(store):
            told = mind("report", "drafts", "--json", "--store", str(store))
        assert told.code == 0, told
        assert told.data["session"] == "main"
        assert told.err == (
            "analytics.duckdb can't be written here: it was made for this question alone.\n"
        )
        assert sorted(store.iterdir()) == before
        assert set(Path(gettempdir()).glob("mind-*")) <= others


def test_where_nothing_is_to_be_told_one_sentence_says_why(answered: Mind) -> None:
    """No empty tables: no vector, no cluster, no message."""
    for name, why in (
        ("diversity", "no thought has a vector"),
        ("clusters", "no cluster has formed"),
    ):
        ran = answered("report", name, "--plot")
        assert (ran.code, ran.out) == (0, "")
        assert ran.err.splitlines()[-1] == f"Nothing to report yet: {why}."
        assert not any(answered("report", name, "--json").data["sections"].values())
    answered("new", "empty")
    for name in ("drafts", "acceptance", "signals", "cost", "lineage"):
        ran = answered("report", name, "-s", "empty")
        assert (ran.code, ran.out) == (0, ""), name
        assert "Nothing to report yet: no " in ran.err


def test_sections_without_rows_are_said_beside_the_others(answered: Mind) -> None:
    """A report that has something to tell tells it, and says what is missing."""
    ran = answered("report", "branches", "-s", "main", "--at", "3")
    assert "main" in ran.out
    assert "nothing to report yet, no exchange was worked on" in ran.err


def test_a_few_branches_stand_beside_each_other(answered: Mind) -> None:
    """A column for each, as long as there are a few; a row for each, where there are many."""
    shown = answered("report", "branches").out.splitlines()
    assert shown[1].split() == ["main", "what-if"]
    assert re.fullmatch(r"drafts +2 +1", next(x for x in shown if x.startswith("drafts ")))
    for n in range(4):
        answered("fork", f"more/{n}", "--at", "2")
    shown = answered("report", "branches", "-s", "main").out.splitlines()
    assert shown[1].split()[:3] == ["session", "here", "parent"]


def test_long_tables_are_cut_and_say_so(answered: Mind) -> None:
    """The newest rows stay, and all come if asked for."""
    ran = answered("report", "drafts", "-n", "1")
    last = ran.out.strip().splitlines()[-1]
    assert last.startswith("exc_1_000       2")
    assert "… and 1 row before these: -n 0" in ran.err
    assert "before these" not in answered("report", "drafts", "-n", "0").err
    assert answered("report", "drafts", "-n", "-1").code == 2


def test_charts_follow_their_tables_and_need_no_colour(answered: Mind) -> None:
    """Where nobody looks in colour, there is not one escape in it."""
    plain, drawn = (answered("report", "drafts", *plot).out for plot in ((), ("--plot",)))
    assert len(drawn.splitlines()) > len(plain.splitlines()) + 10
    assert "Characters changed since the draft before" in drawn
    assert "\x1b" not in drawn


def test_a_page_is_whole_and_not_overwritten_by_mistake(answered: Mind, tmp_path: Path) -> None:
    """It holds tables, charts and what columns mean, and reaches for nothing outside."""
    ran = answered("report", "drafts", "--html", "drafts.html")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.splitlines()[-1] == "Wrote drafts.html."
    page = (tmp_path / "drafts.html").read_text("utf-8")
    assert "<svg" in page
    assert "What the columns mean" in page
    assert "of main at version" in page
    assert not re.search(r"<script|(src|href)=.https?:", page)
    again = answered("report", "drafts", "--html", "drafts.html")
    assert again.code == 2
    assert "--force" in again.err
    assert answered("report", "drafts", "--html", "drafts.html", "--force").code == 0
    assert answered("report", "drafts", "--html", "no/drafts.html").code == 2


def test_a_page_of_nothing_says_so(answered: Mind, tmp_path: Path) -> None:
    """A page is written all the same: whoever asked for a file finds one."""
    assert answered("report", "diversity", "--html", "d.html").code == 0
    assert "no thought has a vector" in (tmp_path / "d.html").read_text("utf-8")


def test_texts_of_users_are_shown_and_not_obeyed(answered: Mind, tmp_path: Path) -> None:
    """Escapes, markup and line ends in a message stay text."""
    nasty = "\x1b[31mred</td><script>alert(1)</script>\nand more"
    assert answered("message", stdin=nasty).code == 0
    assert answered("run", "1").code == 0
    for words in (("drafts",), ("interventions", "--plot"), ("signals", "--plot")):
        ran = answered("report", *words, "-n", "0")
        assert ran.code == 0
        assert "\x1b" not in ran.out
        assert "red</td><script>alert(1)</script> and more" in ran.out
    assert "\x1b" not in answered("report", "drafts", "--json").out
    assert answered("report", "drafts", "--html", "x.html").code == 0
    page = (tmp_path / "x.html").read_text("utf-8")
    assert "<script" not in page
    assert "alert(1)" in page


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("drift",), "no report 'drift': there are acceptance"),
        (("drafts", "-s", "nobody"), "nobody"),
        (("drafts", "--at", "draft:9"), "draft:9"),
        (("drafts", "--json", "--plot"), "--json gives the numbers alone"),
        (("drafts", "--json", "--html", "x.html"), "--json gives the numbers alone"),
    ],
)
def test_what_cannot_be_told_is_refused(
    answered: Mind, words: tuple[str, ...], sentence: str
) -> None:
    """With one sentence and exit code 2."""
    ran = answered("report", *words)
    assert ran.code == 2
    assert sentence in ran.err
    assert ran.out == ""


def test_a_report_may_be_asked_of_the_past_and_changes_nothing(answered: Mind) -> None:
    """It reads: the log is as it was."""
    before = answered("status", "--json").data["version"]
    assert answered("at", "~3", "report", "branches").code == 0
    assert answered("status", "--json").data["version"] == before
