"""From what the user typed to a hook, or to one sentence that says why not."""

from pathlib import Path
from typing import Any, cast

import pytest

from commands.hooks.auditor import Auditor
from commands.hooks.hook import BadHook, Hook, Made, as_hook
from commands.hooks.load import load_hooks, read_spec
from commands.hooks.novelty import ANGLES, Novelty
from commands.hooks.turn import Turn
from domain.errors import LogosphereError

SPECS: list[tuple[str, str, dict[str, Any]]] = [
    ("novelty", "novelty", {}),
    ("novelty,every=5", "novelty", {"every": 5}),
    ("a,x=-3,y=+4", "a", {"x": -3, "y": 4}),
    ("a,x=0.5,y=-.5,z=1e-3", "a", {"x": 0.5, "y": -0.5, "z": 0.001}),
    ("a,x=true,y=false,z=True", "a", {"x": True, "y": False, "z": "True"}),
    ("a,x=,y=a=b,z=two words", "a", {"x": "", "y": "a=b", "z": "two words"}),
    ("a,x=nan,y=inf,z=1_000,w=٣", "a", {"x": "nan", "y": "inf", "z": "1_000", "w": "٣"}),
    ("a,x=" + "9" * 5000, "a", {"x": "9" * 5000}),
    ("dir/mine.py:Doubt,file=~/a b.txt", "dir/mine.py:Doubt", {"file": "~/a b.txt"}),
]


@pytest.mark.parametrize(("text", "subject", "arguments"), SPECS)
def test_what_was_asked_for_is_taken_apart(
    text: str, subject: str, arguments: dict[str, Any]
) -> None:
    """Values are numbers, true, false, or text."""
    spec = read_spec(text)
    assert spec == (subject, arguments)
    assert [type(value) for value in spec.arguments.values()] == [
        type(value) for value in arguments.values()
    ]


BAD_SPECS = [
    ("novelty,5", "'5' is no argument of a hook: write key=value, as in novelty,every=5."),
    ("novelty,", "'' is no argument"),
    ("novelty,every=5,,file=x", "'' is no argument"),
    ("novelty,=5", "'=5' is no argument"),
    ("novelty,a b=5", "'a b=5' is no argument"),
    ("novelty,every=5,every=6", "gives 'every' twice"),
    ("novelty,evry=5", "unexpected keyword argument 'evry'): it takes every, file."),
    ("novelty,every=0", "Hook 'novelty' can't be made: every is a whole number from 1 on, not 0."),
    ("novelty,every=x", "not 'x'"),
    ("novelty,every=true", "not True"),
    ("novelty,file=gone.txt", "No such file or directory: 'gone.txt'."),
    ("auditor,sample=201", "sample is at most 200, not 201"),
    ("noveltey", "There is no hook 'noveltey': there are auditor, novelty; a file of yours"),
    ("", "There is no hook ''"),
    ("gone.py", "There is no hook file 'gone.py': name a Python file that is here."),
    ("gone.py:Doubt,every=1", "There is no hook file 'gone.py'"),
    (".py", "There is no hook '.py'"),
]


@pytest.mark.parametrize(("text", "sentence"), BAD_SPECS)
def test_what_can_not_be_had_is_refused(text: str, sentence: str) -> None:
    """In one sentence, before anything runs."""
    with pytest.raises(BadHook) as refusal:
        load_hooks(["novelty", text])
    assert sentence in refusal.value.sentence
    assert "\n" not in refusal.value.sentence


FILES = [
    ("class Doubt:\n    def after(self, turn): pass", "", "mine"),
    ("class Doubt:\n    def before(self, turn): pass", ":Doubt", "Doubt"),
    ("class Doubt:\n    name = 'd.1'\n    def after(self, turn): pass", "", "d.1"),
    ("def hook(turn): pass", "", "mine"),
    ("def hook(turn, every=5): pass", ",every=2", "mine"),
    ("def one(turn): pass\ndef two(turn): pass", ":two", "two"),
    ("class Doubt:\n    def after(self, turn): pass\nready = Doubt()", ":ready", "ready"),
    ("class _Base:\n    def after(self, turn): pass\nclass Own(_Base): pass", "", "mine"),
    ("from commands.hooks.novelty import Novelty\ndef hook(turn): pass", "", "mine"),
    (
        "from dataclasses import dataclass as d\n@d\nclass A:\n    n: int\n    after = print",
        ",n=3",
        "mine",
    ),
]


@pytest.mark.parametrize(("source", "more", "name"), FILES)
def test_a_file_is_a_hook(tmp_path: Path, source: str, more: str, name: str) -> None:
    """A class, a function called hook, or whatever is named; what it imports is not its own."""
    file = tmp_path / "mine.py"
    file.write_text(source, encoding="utf-8")
    (hook,) = load_hooks([f"{file}{more}"])
    assert hook.name == name


BAD_FILES = [
    ("x = 5", "", "There is no hook in 'mine.py': write a class with before(turn)"),
    ("def helper(turn): pass", "", "There is no hook in 'mine.py'"),
    ("from commands.hooks.novelty import Novelty", "", "There is no hook in 'mine.py'"),
    (
        "class A:\n    def after(self, turn): pass\nclass B(A): pass\ndef hook(turn): pass",
        "",
        "There are 3 hooks in 'mine.py': name one, as in mine.py:A (A, B, hook).",
    ),
    ("def hook(turn): pass", ":Doubt", "There is no 'Doubt' in 'mine.py': it has hook."),
    ("", ":Doubt", "There is no 'Doubt' in 'mine.py': it has no hook at all."),
    ("x = 5", ":x", "'x' is no hook"),
    ("class A:\n    after = 5", "", "'mine' is no hook"),
    ("class A: pass", ":A", "'A' is no hook"),
    ("async def hook(turn): pass", "", "async def: hooks are plain functions"),
    ("def hook(): pass", "", "Hook 'mine' can't be called so (too many positional arguments)"),
    ("def hook(turn): pass", ",every=1", "'every'): it takes no arguments."),
    ("class A:\n    after = print\nready = A()", ":ready,x=1", "made already"),
    ("class A:\n    name = 'a:b'\n    after = print", "", "'a:b' can't name a hook"),
    ("class A:\n    name = '\\x1b[0m'\n    after = print", "", "can't name a hook"),
    ("def hook(turn:", "", "Hook file 'mine.py' can't be run: SyntaxError: "),
    ("import nothing_of_this_name", "", "can't be run: ModuleNotFoundError: No module named"),
    ("raise SystemExit(3)", "", "can't be run: SystemExit: 3."),
    (
        "class A:\n    def __init__(self): raise KeyError('x')\n    after = print",
        "",
        "Hook 'mine' can't be made: KeyError: 'x'.",
    ),
    ("class A:\n    def __init__(self, n): pass\n    after = print", "", "it takes n."),
]


@pytest.mark.parametrize(("source", "more", "sentence"), BAD_FILES)
def test_a_file_that_is_no_hook_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, more: str, sentence: str
) -> None:
    """The sentence says what is missing, or what its code raised."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(source, encoding="utf-8")
    with pytest.raises(BadHook) as refusal:
        load_hooks([f"mine.py{more}"])
    assert sentence in refusal.value.sentence
    assert "\n" not in refusal.value.sentence


def test_what_a_file_prints_is_no_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It goes to stderr, so that data on stdout stays data."""
    file = tmp_path / "my hook.py"
    file.write_text("print('loading')\ndef hook(turn): pass", encoding="utf-8")
    (hook,) = load_hooks([str(file)])
    assert hook.name == "my-hook"
    assert capsys.readouterr() == ("", "loading\n")


def package(where: Path, name: str, entries: str, source: str = "") -> None:
    """An installed distribution, as pip leaves it, with a module of the same name."""
    info = where / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[logosphere.hooks]\n{entries}\n")
    (where / f"{name}.py").write_text(source)


def test_a_package_offers_hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By entry points; they are named by the entry, and listed where none fits."""
    source = (
        "class Doubt:\n    def __init__(self, every=1): self.every = every\n    after = print\n"
    )
    package(tmp_path, "doubting", "doubt = doubting:Doubt\nnovelty = doubting:Doubt", source)
    monkeypatch.syspath_prepend(str(tmp_path))
    doubt, novelty = load_hooks(["doubt,every=3", "novelty"])
    assert doubt.name == "doubt"
    # what is built in can't be taken over
    assert cast("Any", novelty.before).__self__.lines == ANGLES
    with pytest.raises(BadHook, match="there are auditor, doubt, novelty; a file"):
        load_hooks(["dout"])


def test_a_package_that_is_broken_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only when its hook is asked for; one name of two packages is nobody's."""
    package(tmp_path / "a", "first", "broken = first:Gone\nboth = first:Gone")
    package(tmp_path / "b", "second", "both = second:Gone")
    monkeypatch.syspath_prepend(str(tmp_path / "a"))
    monkeypatch.syspath_prepend(str(tmp_path / "b"))
    assert load_hooks(["novelty"])
    with pytest.raises(BadHook, match=r"Hook 'broken' can't be imported: AttributeError: .*Gone"):
        load_hooks(["broken"])
    with pytest.raises(BadHook, match="'both' is offered by first and second: uninstall"):
        load_hooks(["both"])


def test_the_environment_comes_first() -> None:
    """Any number of hooks, quoted as in a shell."""
    hooks = load_hooks(["auditor"], "novelty,every=2  'auditor,every=3'")
    assert [hook.name for hook in hooks] == ["novelty", "auditor", "auditor"]
    assert load_hooks([], "  ") == []
    with pytest.raises(BadHook, match="MIND_HOOKS can't be read"):
        load_hooks([], "'novelty")


def test_what_is_built_in_is_a_hook() -> None:
    """Objects pass as hooks as they are, whichever moment they care for."""
    hooks: list[Hook] = [as_hook(Novelty(), "x"), as_hook(Auditor(), "x")]
    assert [hook.name for hook in hooks] == ["novelty", "auditor"]
    again = as_hook(hooks[0], "y")
    assert isinstance(again, Made)
    assert again == hooks[0]


def test_refusals_are_refusals() -> None:
    """So the command line says them in one sentence, with exit code 2."""
    assert issubclass(BadHook, LogosphereError)
    with pytest.raises(BadHook):
        as_hook(cast("Turn", 5), "five")
