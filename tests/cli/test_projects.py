"""Projects on the command line."""

from pathlib import Path

import pytest

from tests.cli.conftest import Mind


@pytest.fixture
def mind(within: Mind) -> Mind:
    """A store, and commands within this process."""
    within("init", "thinking", "why two tides?", "-m", "local", "--set", "embedding_model=off")
    return within


def test_a_project_from_its_beginning_to_its_end(mind: Mind, tmp_path: Path) -> None:
    """Made, listed, shown, closed; what is closed is hidden until it is asked for."""
    assert "There is no project yet" in mind("project", "list").err
    words = ("-d", "Cards, refunds.", "-r", "reviewer", "-r", "researcher", "--path", ".")
    made = mind("project", "create", "payments", *words)
    assert (made.code, made.out) == (0, "")
    assert 'Next: mind task create payments "…"' in made.err
    mind("task", "create", "payments", "Refunds differ from voids")
    [row] = mind("project", "list", "--json").data
    assert row.pop("begun").endswith("+00:00")
    assert row == {
        "name": "payments",
        "description": "Cards, refunds.",
        "roles": ["reviewer", "researcher"],
        "path": str(tmp_path.resolve()),
        "virtual": False,
        "open": True,
        "tasks": {"open": 1, "closed": 0},
    }
    listed = mind("project", "list").out.splitlines()
    assert listed[0].split() == ["project", "open", "tasks", "roles", "description"]
    assert listed[1].endswith("reviewer, researcher  Cards, refunds.")
    shown = mind("project", "show", "payments").out
    for text in ("Cards, refunds.", "reviewer, researcher", str(tmp_path.resolve())):
        assert text in shown
    assert "refunds-differ-voids: Refunds differ from voids" in shown
    refused = mind("project", "close", "payments")
    assert refused.code == 2
    assert "open tasks, refunds-differ-voids: close them first" in refused.err
    closed = mind("project", "close", "payments", "--with-tasks", "--reason", "over")
    assert "Project payments is closed, and so is 1 task." in closed.err
    assert mind("project", "list", "--json").data == []
    assert "1 closed project not shown" in mind("project", "list").err
    assert "payments (closed)" in mind("project", "list", "--all").out
    data = mind("project", "show", "payments", "--json").data
    assert (data["open"], data["tasks"]) == (False, {"open": 0, "closed": 1})
    assert [task["open"] for task in data["task_list"]] == [False]


def test_a_heading_has_no_tasks(mind: Mind) -> None:
    """A virtual project is listed as one, and takes nothing."""
    made = mind("project", "create", "umbrella", "--virtual", "--json")
    assert made.data["virtual"] is True
    assert "umbrella (virtual)" in mind("project", "list").out
    refused = mind("task", "create", "umbrella", "x")
    assert refused.code == 2
    assert "is virtual" in refused.err


def test_what_makes_no_project_is_refused(mind: Mind, tmp_path: Path) -> None:
    """In a sentence that says what to do, and nothing is written."""
    mind("project", "create", "payments")
    (tmp_path / "file").write_text("x")
    for words, sentence in (
        (["create", "payments"], "There is a project 'payments' already"),
        (["create", "a/b"], "can't name a project"),
        (["create", "../x"], "can't name a project"),
        (["create", "x", "-r", "reviwer"], "no role 'reviwer': there are reviewer"),
        (["create", "x", "-r", "../x"], "no role '../x'"),
        (["create", "x", "--path", "nowhere"], "is no directory"),
        (["create", "x", "--path", "file"], "is no directory"),
        (["show", "paymets"], "no project 'paymets': there is payments"),
        (["close", "paymets"], "no project 'paymets': there is payments"),
    ):
        ran = mind("project", *words)
        assert ran.code == 2, words
        assert sentence in ran.err
    assert [row["name"] for row in mind("project", "list", "--json").data] == ["payments"]


def test_the_past_has_the_projects_of_then(mind: Mind) -> None:
    """As of any moment there are those that had begun; nothing can be changed there."""
    mind("project", "create", "early")
    mind("label", "here")
    mind("project", "create", "late")
    mind("label", "there")
    mind("project", "close", "early")
    assert [p["name"] for p in mind("at", "2", "project", "list", "--json").data] == ["early"]
    then = mind("at", "3", "project", "list", "--json").data
    assert [p["name"] for p in then] == ["early", "late"]
    assert mind("at", "3", "project", "show", "early", "--json").data["open"] is True
    assert mind("at", "head", "project", "show", "early", "--json").data["open"] is False
    for words in (["create", "x"], ["close", "late"]):
        refused = mind("at", "2", "project", *words)
        assert refused.code == 2
        assert "The past can only be read" in refused.err


def test_texts_do_nothing_to_a_terminal(mind: Mind) -> None:
    """Escape sequences that somebody wrote are shown, not obeyed."""
    mind("project", "create", "payments", "-d", "red \x1b[31m\nand more")
    mind("task", "create", "payments", "title \x1b[31m", "-d", "text \x1b]0;x\x07")
    for words in (
        ("project", "list"),
        ("project", "show", "payments"),
        ("task", "list"),
        ("task", "show", "payments", "title-31m"),
    ):
        for more in ((), ("--json",)):
            ran = mind(*words, *more)
            assert ran.code == 0
            assert "\x1b" not in ran.out
    assert len(mind("project", "list").out.splitlines()) == 2


def test_the_installed_command_knows_projects(installed: Mind, mind: Mind) -> None:
    """Through the real entry point, with its exit codes."""
    mind("project", "create", "payments")
    refused = installed("project", "create", "payments")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("mind: There is a project 'payments' already")
