"""Roles as files: what is read, what is refused, which one of two is taken."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commands.agents.role_file import checked_model, checked_role_name, role_of_file
from commands.agents.roles import SHIPPED, Role, Roles, read_role, role_directories
from commands.agents.tools import PERMISSIONS
from domain.agent_errors import BadRole, NoSuchRole
from domain.errors import BadSetting
from domain.limits import Limits
from domain.texts import LONGEST

EDITOR = """\
---
name: editor
description: |
  Shortens texts.
  Asks before it cuts.
model: claude:sonnet
permissions: [agent-draft, "projects-list"]
limits:
  budget_usd: 1.5
  turns: 20
tools:
  - Read
  - Bash(git *)
---

You shorten texts.

---
A line of dashes may stand here.
"""


def plain(*lines: str, name: str = "editor", body: str = "You edit.") -> str:
    """A role with a few more lines in its frontmatter."""
    return "\n".join(["---", f"name: {name}", "description: d", *lines, "---", body])


def written(directory: Path, name: str, text: str | bytes) -> Path:
    """A file of a role."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.md"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_all_that_a_file_says_is_read() -> None:
    """The frontmatter becomes the fields of a role, the rest its instructions."""
    assert read_role(EDITOR, "roles/editor.md") == Role(
        name="editor",
        description="Shortens texts.\nAsks before it cuts.",
        model="claude:sonnet",
        permissions=("agent-draft", "projects-list"),
        limits=Limits(budget_usd=1.5, turns=20),
        tools=("Read", "Bash(git *)"),
        instructions="You shorten texts.\n\n---\nA line of dashes may stand here.",
    )


def test_a_name_and_a_description_are_enough() -> None:
    """Whoever is given nothing may do nothing; keys without a value are as good as absent."""
    role = read_role(plain("permissions:", "limits: # none", "model: ~"), "editor.md")
    assert (role.model, role.permissions, role.limits, role.tools) == (None, (), Limits(), ())


def test_files_of_other_systems_are_read() -> None:
    """Line ends of Windows and a byte order mark do no harm."""
    assert read_role(EDITOR.replace("\n", "\r\n"), "editor.md") == read_role(EDITOR, "editor.md")


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    """Some editors write one."""
    assert role_of_file(written(tmp_path, "editor", b"\xef\xbb\xbf" + EDITOR.encode())).tools


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "editor.md:1: it has no frontmatter"),
        ("You edit.", "editor.md:1: it has no frontmatter"),
        ("---\nname: editor\nYou edit.", "editor.md:1: its frontmatter does not end"),
        ("---\n---\nYou edit.", "the frontmatter is no map"),
        ("---\n- name\n---\nYou edit.", "the frontmatter is no map"),
        ("---\nname: editor\n---\nx", "editor.md:3: 'description' is missing"),
        ("---\ndescription: d\n---\nx", "editor.md:3: 'name' is missing"),
        (plain(body=" \n"), "editor.md:4: it has no instructions"),
        (plain(name="writer"), "editor.md:2: role 'writer' belongs into a file writer.md"),
        (plain(name="../editor"), "editor.md:2: '../editor' can't name a role"),
        (plain(name="[editor]"), "editor.md:2: name must be a text"),
        (plain("persona: x"), "editor.md:4: 'persona' is no key here: use name, description"),
        (plain("model: local", "model: local"), "editor.md:5: 'model' stands here twice"),
        (plain("model: gpt"), "editor.md:4: 'gpt' names no mind"),
        (plain("model: 'claude:'"), "editor.md:4: 'claude:' names no mind"),
        (plain("permissions: [all]"), "editor.md:4: 'all' is no permission: use agent-draft"),
        (plain("permissions: agent-draft"), "editor.md:4: permissions must be a list"),
        (plain("permissions: [[agent-draft]]"), "each of permissions must be a text"),
        (plain("tools: [Read, Read]"), "editor.md:4: 'Read' stands here twice"),
        (plain("tools: ['Read,Write']"), "'Read,Write' is no name of a tool"),
        (plain("limits: 5"), "editor.md:4: limits must be lines of NAME: NUMBER"),
        (plain("limits:", "  turns: 5", "  money: 5"), "editor.md:6: 'money' is no key here"),
        (plain("limits: {turns: -1}"), "'-1' can't be turns: write a whole number above 0"),
        (plain("limits: {turns: 0}"), "'0' can't be turns"),
        (plain("limits: {turns: 1.5}"), "'1.5' can't be turns"),
        (plain("limits: {turns: 'no'}"), "'no' can't be turns"),
        (plain("limits: {seconds: .inf}"), "'.inf' can't be seconds"),
        (plain("limits: {tokens: " + "9" * 400 + "}"), "can't be tokens"),
        (plain("limits: {budget_usd: 1e9}"), "write a number above 0, at most 100,000"),
        (plain("limits: {budget_usd: [1]}"), "'[1]' can't be budget_usd"),
        (plain("model: claude: x"), "editor.md:4: the frontmatter is no YAML"),
        (plain("tools: ["), "the frontmatter is no YAML"),
        (plain("...", "model: local"), "the frontmatter is no YAML"),
        (plain("model: !!python/object:os.system x"), "uses the YAML tag"),
        (plain("tools: &all [Read]", "permissions: *all"), "uses a YAML anchor or alias"),
        (plain("<<: {model: local}"), "uses a YAML merge key"),
        (plain(f"description: {'x' * 1025}").replace("description: d\n", ""), "1,025 characters"),
        (plain(body="a\0b"), "NUL"),
        (plain(body="a\ud800b"), "half characters"),
        (plain(body="x" * LONGEST), "more than 200,000 characters"),
    ],
)
def test_what_is_no_role_is_refused(text: str, sentence: str) -> None:
    """In one sentence that says where, why and what to do."""
    with pytest.raises(BadRole) as refused:
        read_role(text, "editor.md")
    assert sentence in refused.value.sentence
    assert refused.value.sentence.startswith("editor.md:")
    assert len(refused.value.sentence) < 400


def test_what_only_an_attack_needs_is_refused_at_once() -> None:
    """Aliases of aliases are never unfolded, nesting has an end."""
    bomb = "\n".join(f"k{n}: &k{n} [{', '.join([f'*k{n - 1}'] * 9)}]" for n in range(1, 40))
    for line in (f"k0: &k0 lol\n{bomb}", "tools: " + "[" * 5000, "tools: " + "{a: " * 5000):
        with pytest.raises(BadRole):
            read_role(plain(line), "editor.md")


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80), st.text(max_size=20))
def test_any_text_is_a_role_or_is_refused(front: str, body: str) -> None:
    """No text that anybody may write makes it break."""
    for text in (front, plain(front, body=body)):
        try:
            role = read_role(text, "editor.md")
        except BadRole:
            continue
        assert role.name == "editor"
        assert set(role.permissions) <= set(PERMISSIONS)


def test_a_file_that_can_not_be_trusted_is_not_read(tmp_path: Path) -> None:
    """Links, pipes and directories are no roles, whatever they lead to; no pipe is waited for."""
    secret = tmp_path / "secret"
    secret.write_text(EDITOR)
    (tmp_path / "link.md").symlink_to(secret)
    (tmp_path / "loop.md").symlink_to("loop.md")
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    written(tmp_path, "binary", b"---\nname: binary\n\xff\xfe\n")
    written(tmp_path, "endless", b"x" * (4 * LONGEST + 9))
    roles = Roles([tmp_path])
    for name, sentence in (
        ("link", "link.md: it is a link: put the file itself there."),
        ("loop", "loop.md: it is a link"),
        ("pipe", "pipe.md: it is no file"),
        ("folder", "folder.md: it is no file"),
        ("binary", "binary.md:3: it is not UTF-8 text"),
        ("endless", "more than 200,000 characters"),
    ):
        with pytest.raises(BadRole) as refused:
            roles.get(name)
        assert sentence in refused.value.sentence
    assert len(roles.problems()) == 6
    assert roles.all() == []


@pytest.mark.parametrize(
    "name", ["../editor", "/etc/passwd", "", ".", "Editor", "editor\n", "a" * 65, "-x", "ä", "a/b"]
)
def test_a_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    """What can't name a role is not looked for, and names nothing else either."""
    written(tmp_path, "editor", plain())
    roles = Roles([tmp_path / "roles"])
    (tmp_path / "roles").mkdir()
    with pytest.raises(NoSuchRole):
        roles.get(name)
    with pytest.raises(BadSetting, match="can't name a role"):
        checked_role_name(name)


def test_the_earlier_directory_counts(tmp_path: Path) -> None:
    """A role of the store stands for the user's, and that for the one that ships."""
    store, user, shipped = (tmp_path / name for name in ("store", "user", "shipped"))
    written(store, "a", plain(name="a", body="store"))
    for directory in (user, shipped):
        written(directory, "a", plain(name="a", body=directory.name))
        written(directory, "b", plain(name="b", body=directory.name))
    written(shipped, "c", plain(name="c", body="shipped"))
    roles = Roles([store, user, tmp_path / "missing", shipped])
    assert [(r.name, r.instructions) for r in roles.all()] == [
        ("a", "store"),
        ("b", "user"),
        ("c", "shipped"),
    ]
    assert roles.path("b") == user / "b.md"
    written(store, "b", "nonsense")
    with pytest.raises(BadRole):  # a mistake is told, and never hidden behind another file
        roles.get("b")
    assert [role.name for role in roles.all()] == ["a", "c"]
    assert [p.sentence.partition(":")[0] for p in roles.problems()] == [str(store / "b.md")]


def test_a_role_that_is_not_there_names_those_like_it(tmp_path: Path) -> None:
    """The nearest first."""
    for name in ("analyst", "reviewer"):
        written(tmp_path, name, plain(name=name))
    with pytest.raises(NoSuchRole, match="'reviwer': there are reviewer, analyst"):
        Roles([tmp_path]).get("reviwer")
    with pytest.raises(NoSuchRole, match="write one"):
        Roles([]).get("reviewer")


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    """Nobody has to be started anew to see an edited role; an unchanged file is not read twice."""
    path = written(tmp_path, "editor", plain(body="one"))
    roles = Roles([tmp_path])
    first = roles.get("editor")
    assert roles.get("editor") is first
    path.write_text(plain(body="two"))
    os.utime(path, ns=(1, 1))  # even by somebody who sets the clock back
    assert roles.get("editor").instructions == "two"
    path.write_text("broken")
    with pytest.raises(BadRole):
        roles.get("editor")
    path.unlink()
    with pytest.raises(NoSuchRole):
        roles.get("editor")


def test_where_roles_are_looked_for(tmp_path: Path) -> None:
    """In the store, in the user's settings, among those that ship, in this order."""
    for env, settings_of in (
        ({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}, Path("/x/mind/roles")),
        ({"HOME": "/h"}, Path("/h/.config/mind/roles")),
    ):
        assert role_directories(tmp_path, env) == (tmp_path / "roles", settings_of, SHIPPED)


def test_the_roles_that_ship_can_be_drafted() -> None:
    """Three of them; none names a model, and only one may do more than read."""
    roles = Roles([SHIPPED])
    assert roles.problems() == []
    assert {role.name: role.permissions for role in roles.all()} == {
        "product-analyst": PERMISSIONS,
        "researcher": (),
        "reviewer": (),
    }
    assert all(role.model is None and not role.tools for role in roles.all())


@pytest.mark.parametrize("name", ["local", "script:replies.txt", "claude:sonnet", "claude:a[1m]"])
def test_what_may_answer_for_an_agent(name: str) -> None:
    """Every mind, and Claude Code."""
    assert checked_model(name) == name


@pytest.mark.parametrize("name", ["", "claude:", "claude:--help", "claude:a b", "gpt-9", "x\n"])
def test_what_may_not_answer(name: str) -> None:
    """A sentence says what may."""
    with pytest.raises(BadSetting, match="claude:"):
        checked_model(name)
