"""Roles on the command line."""

import stat
from pathlib import Path

import pytest

from commands.agents.roles import Roles
from tests.cli.conftest import Mind

EDITOR = "---\nname: editor\ndescription: Shortens.\n---\nYou shorten texts.\n"


@pytest.fixture
def mind(within: Mind) -> Mind:
    """A store, and commands within this process."""
    within("init", "thinking", "-m", "local", "--set", "embedding_model=off")
    return within


def test_the_roles_that_can_be_drafted_are_listed(mind: Mind, tmp_path: Path) -> None:
    """With where they are from: those of the store stand for others of the same name."""
    user = tmp_path / ".config" / "mind" / "roles"
    user.mkdir(parents=True)
    (user / "editor.md").write_text(EDITOR)
    (tmp_path / "thinking" / "roles").mkdir()
    own = tmp_path / "thinking" / "roles" / "reviewer.md"
    own.write_text(EDITOR.replace("name: editor", "name: reviewer\nlimits: {turns: 5}"))
    rows = mind("role", "list", "--json").data
    assert [(row["name"], row["from"]) for row in rows] == [
        ("editor", "user"),
        ("product-analyst", "shipped"),
        ("researcher", "shipped"),
        ("reviewer", "store"),
    ]
    assert rows[1]["permissions"] == ["agent-draft", "projects-list", "projects-create"]
    assert rows[3] == {
        "name": "reviewer",
        "from": "store",
        "path": str(own),
        "description": "Shortens.",
        "model": None,
        "permissions": [],
        "limits": {"turns": 5},
        "tools": [],
    }
    listed = mind("role", "list").out.splitlines()
    assert listed[1].split() == ["editor", "user", "none", "Shortens."]


def test_roles_are_there_without_a_store(within: Mind) -> None:
    """Whoever has none yet may look at those that ship; one that is named has to be there."""
    assert len(within("role", "list", "--json").data) == 3
    assert "You answer one question" in within("role", "show", "researcher").out
    assert within("role", "check").code == 0
    assert within("role", "list", "--store", "nowhere").code == 2
    assert within("role", "new", "editor").code == 2


def test_a_role_is_shown_with_its_instructions(mind: Mind) -> None:
    """All that whoever drafts it should know."""
    shown = mind("role", "show", "product-analyst").out
    assert "permissions: agent-draft, projects-list, projects-create" in shown
    assert "limits: none" in shown
    data = mind("role", "show", "reviewer", "--json").data
    assert data["instructions"] in mind("role", "show", "reviewer").out
    refused = mind("role", "show", "reviwer")
    assert refused.code == 2
    assert "no role 'reviwer': there are reviewer" in refused.err


def test_a_new_role_is_one_to_begin_with(mind: Mind, tmp_path: Path) -> None:
    """It can be drafted as it is, and nothing that is there is ever written over."""
    made = mind("role", "new", "editor")
    assert (made.code, made.out) == (0, "")
    path = tmp_path / "thinking" / "roles" / "editor.md"
    assert stat.S_IMODE(path.stat().st_mode) & ~0o644 == 0
    assert Roles([path.parent]).get("editor").permissions == ()
    path.write_text(EDITOR)
    again = mind("role", "new", "editor")
    assert again.code == 2
    assert "is there already" in again.err
    assert path.read_text() == EDITOR
    (path.parent / "link.md").symlink_to(tmp_path / "elsewhere")
    assert mind("role", "new", "link").code == 2
    assert not (tmp_path / "elsewhere").exists()
    assert "stands for another role reviewer" in mind("role", "new", "reviewer").err


@pytest.mark.parametrize("name", ["../x", "/etc/x", "", "X", "a/b", "x" * 65, "a.b"])
def test_a_new_role_has_a_name_that_is_no_path(mind: Mind, tmp_path: Path, name: str) -> None:
    """Nothing is written for any other."""
    refused = mind("role", "new", "--", name)
    assert refused.code == 2
    assert "can't name a role" in refused.err
    assert not (tmp_path / "thinking" / "roles").exists()


def test_what_is_wrong_with_roles_is_told_in_a_line_each(mind: Mind, tmp_path: Path) -> None:
    """On stdout, for editors and scripts, with the exit code of a refusal."""
    fine = mind("role", "check")
    assert (fine.code, fine.out) == (0, "")
    assert "3 roles checked: nothing is wrong." in fine.err
    folder = tmp_path / "thinking" / "roles"
    folder.mkdir()
    (folder / "editor.md").write_text(EDITOR.replace("description", "descripton"))
    (folder / "bad\nname\x1b[31m.md").write_text(EDITOR)
    (folder / "notes.txt").write_text("no role")
    ran = mind("role", "check")
    assert ran.code == 2
    assert "\x1b" not in ran.out
    lines = ran.out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith(f"{folder}/editor.md:3: 'descripton' is no key here")
    assert "2 files can't be read as a role" in mind("role", "list").err
    assert "'descripton' is no key" in mind("role", "show", "editor").err


def test_files_can_be_checked_before_they_are_put_anywhere(within: Mind, tmp_path: Path) -> None:
    """Those that are named, and no others."""
    (tmp_path / "editor.md").write_text(EDITOR)
    (tmp_path / "writer.md").write_text(EDITOR)
    assert within("role", "check", "editor.md").code == 0
    ran = within("role", "check", "editor.md", "writer.md", "nowhere.md")
    assert ran.code == 2
    assert [line.partition(":")[0] for line in ran.out.splitlines()] == ["writer.md", "nowhere.md"]


def test_the_installed_command_knows_roles(installed: Mind) -> None:
    """Through the real entry point."""
    ran = installed("role", "list")
    assert (ran.code, len(ran.out.splitlines())) == (0, 4)
