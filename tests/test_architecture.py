"""The house stands: its rooms, their doors, and nothing in them that belongs elsewhere."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.tools import lock
from tests.tools.imports import read

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("domain", "commands", "projections", "cli", "logosphere")
LONGEST_FILE = 400

# The log is kept by one package; these are the libraries under it.
LOG_LIBRARIES = {"eventsourcing", "msgpack", "sqlite3", "psycopg"}
LOG_HOME = "commands/eventlog"
INDEX_HOMES = ("projections/search/", "projections/views/")  # keep tables of their own

# What the domain may import beside the standard library, and where.
NUMBERS = ("numpy", "scipy", "hdbscan")
CLUSTERING = "domain/clustering/"
DOMAIN_LIBRARIES = {
    "pydantic": "domain/",
    "yaml": "domain/protocol/",
    # what needs a vector; nothing else of the domain imports it, so states and prompts do without
    **dict.fromkeys((*NUMBERS, "domain.clustering"), CLUSTERING),
}

# Modules of the standard library that are a clock, a dice or a door to the outside world.
IMPURE_MODULES = (
    *("asyncio", "http", "multiprocessing", "os", "secrets", "shutil", "socket", "sqlite3"),
    *("subprocess", "tempfile", "threading", "time", "urllib.request", "uuid"),
)
IMPURE_USE = re.compile(
    r"""
      datetime\.(datetime|date)\.(now|utcnow|today)(\(\))?  # a clock
    | .*\.astimezone\(\)                                    # this machine's time zone
    | random\.(?!Random\b).*                                # the dice that all share
    | random\.Random\(\)                                    # a dice seeded by the clock
    | random\.(System)?Random\.\w.*                         # neither made here nor seeded
    | (open|print|input|exec|eval)(\(\))?                   # doors
    | pathlib\.Path\b.*                                    # (importlib.resources reads our own)
    | sys\.(argv|std\w+)\b.*
    """,
    re.VERBOSE,
)

# Written so that this file does not hold what it forbids.
PLACES = re.compile(
    rb"""
      (?<![\w.-]) (?:[\w-]+\.)* (?: py[p]i\.org | pythonhosted\.or[g] | registry\.npmj[s]\.org
        | regi[s]try\.yarnpkg\.com | proxy\.golang\.or[g] | (?:static\.|index\.)?crate[s]\.io
        | deb\.debia[n]\.org | conda\.anacond[a]\.org )
    | (?<![\w.$~}-]) / (?:home|Users|root|work) / [\w.]
    | [A-Za-z]:\\+Users\\
    """,
    re.VERBOSE,
)
SECRETS = re.compile(
    rb"\bsk-(?:ant-|or-|proj-)?[A-Za-z0-9]{24}|\bgh[pousr]_[A-Za-z0-9]{36}|\bhf_[A-Za-z0-9]{30}"
    rb"|\bAKIA[A-Z0-9]{16}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)


def test_no_other_distribution_owns_the_name_of_a_room() -> None:
    """`import domain` can only ever mean this house, since the names are common words."""
    owners = packages_distributions()
    for room in ROOMS:
        assert set(owners.get(room, [])) == {"logosphere"}, f"{room} belongs to {owners.get(room)}"
        assert room not in sys.stdlib_module_names


def test_the_rooms_that_are_imported_are_the_rooms_of_this_checkout() -> None:
    """An old copy in site-packages is never what the tests test."""
    for room in ROOMS:
        spec = find_spec(room)
        assert spec is not None
        assert spec.origin == str(ROOT / room / "__init__.py")


def test_the_doors_between_the_rooms_are_kept() -> None:
    """import-linter finds every contract of pyproject.toml kept."""
    command = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_one_package_knows_the_library_under_the_log() -> None:
    """The library can be replaced, and its store inspected, in one place."""
    assert [
        f"{path}:{line} imports {name}"
        for path, source in _modules(*ROOMS)
        if not path.startswith((f"{LOG_HOME}/", f"{LOG_HOME}.py"))
        for line, name in read(source).imports
        if name.partition(".")[0] in LOG_LIBRARIES
        if not (name.startswith(("sqlite3", "psycopg")) and path.startswith(INDEX_HOMES))
    ] == []


def test_the_domain_imports_the_standard_library_and_pydantic() -> None:
    """What decides needs little that could break with an upgrade; YAML stays at the mind's door.

    Vectors are compared in one folder, and nothing outside of it imports that.
    """
    assert [
        f"{path}:{line} imports {name}"
        for path, source in _modules("domain")
        for line, name in read(source).imports
        if not _may_be_imported_by_the_domain(path, name)
    ] == []


def test_the_domain_starts_without_numbers() -> None:
    """Folding a session and rendering its prompt waits for no library of vectors."""
    modules = [
        path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for path, _ in _modules("domain")
        if not path.startswith(CLUSTERING)
    ]
    assert "domain.session" in modules
    code = (
        "import sys\n"
        "from importlib import import_module\n"
        f"for name in {modules!r}:\n    import_module(name)\n"
        f"print([m for m in {[*NUMBERS, 'domain.clustering']!r} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_domain_has_no_clock_no_dice_and_no_door() -> None:
    """The same events give the same state, on any machine and at any time."""
    assert [
        f"{path}:{sentence}"
        for path, source in _modules("domain")
        for sentence in _impurities(source)
    ] == []


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "import os.path",
        "from uuid import uuid4",
        "def late():\n    import secrets",
        "import importlib\nimportlib.import_module('time')",
        "__import__('os')",
        "import datetime\ndatetime.datetime.now(datetime.UTC)",
        "from datetime import datetime as moment\nmoment.utcnow()",
        "from datetime import date\nwhen = date.today",
        "def f(moment): return moment.astimezone()",
        "import random\nrandom.shuffle([])",
        "import random as dice\npick = dice.choice",
        "from random import sample\nsample([1], 1)",
        "from random import Random\nRandom()",
        "from random import Random\nRandom(None)",
        "from random import SystemRandom\nSystemRandom(1)",
        "def f(p): return open(p)",
        "print('hello')",
        "from pathlib import Path\nPath('a').read_text()",
        "import sys\nsys.stderr.write('a')",
    ],
)
def test_impure_code_would_be_found(source: str) -> None:
    """The search for clocks and dice finds them when they are there."""
    assert list(_impurities(source))


@pytest.mark.parametrize(
    "source",
    [
        "from random import Random\ndef f(seed: int) -> Random: return Random(seed)",
        "import random\ndef f(dice: random.Random) -> float: return dice.random()",
        "from datetime import UTC, datetime\ndatetime(2026, 1, 1, tzinfo=UTC)",
        "from datetime import datetime\ndatetime.fromisoformat('2026-01-01T00:00:00Z')",
        "def f(now, time): return now - time.now",
    ],
)
def test_pure_code_would_be_left_alone(source: str) -> None:
    """A seeded dice and a moment that is handed in are no impurity."""
    assert list(_impurities(source)) == []


@pytest.mark.parametrize(
    ("path", "name", "allowed"),
    [
        ("domain/session.py", "pydantic", True),
        ("domain/session.py", "domain.ids", True),
        ("domain/session.py", "collections.abc", True),
        ("domain/session.py", "commands.handle", False),
        ("domain/session.py", "numpy", False),
        ("domain/session.py", "numpy.typing", False),
        ("domain/session.py", "domain.clustering", False),
        ("domain/session.py", "domain.clustering.rules", False),
        ("domain/clustering/online.py", "numpy", True),
        ("domain/clustering/online.py", "numpy.typing", True),
        ("domain/clustering/online.py", "scipy.cluster.hierarchy", True),
        ("domain/clustering/online.py", "hdbscan", True),
        ("domain/clustering/online.py", "sklearn", False),
        ("domain/clustering/online.py", "domain.clustering.rules", True),
        ("domain/clustering/online.py", "domain.config", True),
        ("domain/session.py", "yaml", False),
        ("domain/protocol/render.py", "yaml", True),
    ],
)
def test_only_what_the_domain_may_import_is_let_in(path: str, name: str, *, allowed: bool) -> None:
    """YAML and numbers are let in at one door each, the other rooms at none."""
    assert _may_be_imported_by_the_domain(path, name) is allowed


def test_no_file_is_longer_than_a_reader_can_hold() -> None:
    """A file of the rooms has at most 400 lines."""
    assert [
        f"{path} has {len(source.splitlines())} lines"
        for path, source in _modules(*ROOMS)
        if len(source.splitlines()) > LONGEST_FILE
    ] == []


@pytest.mark.parametrize(
    ("forbidden", "what"),
    [(PLACES, "a package registry or a home folder"), (SECRETS, "what looks like a secret")],
)
def test_no_file_names_what_belongs_to_one_machine(forbidden: re.Pattern[bytes], what: str) -> None:
    """A checkout works on every machine, and gives nothing away."""
    assert [
        f"{path} names {what}: {found[0]!r}"
        for path in _files()
        if (found := forbidden.search((ROOT / path).read_bytes()))
    ] == []


def test_places_and_secrets_would_be_found() -> None:
    """The search for places and secrets finds them when they are there."""
    for name in (b"https://py@pi.org/simple", b"'/ho@me/me/x'", b"=/wo@rk/main", b"C:\\Us@ers\\me"):
        assert PLACES.search(name.replace(b"@", b""))
    for name in (b"$HOME/me", b"example.com/home/x", b"the copypi.organ", b"a/root/b", b"~/work/x"):
        assert PLACES.search(name) is None
    assert SECRETS.search(b"key = sk-" + b"a1" * 20)


def test_the_lock_is_whole_and_names_no_place() -> None:
    """Every wish of pyproject.toml is pinned and hashed, and the lock sends pip nowhere."""
    told = {
        name: (ROOT / name).read_text("utf-8") for name in ("requirements.txt", "pyproject.toml")
    }
    assert list(lock.problems(told["requirements.txt"], told["pyproject.toml"])) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("--index-url x", "names a place"),
        ("--find-links wheels", "names a place"),
        ("--trusted-host host", "names a place"),
        ("-e .", "names a place"),
        ("a @ file:///wheels/a.whl", "names a place"),
        ("./a.whl", "names a place"),
        ("# from https://host/simple", "names a place"),
        ("a>=1", "no exact pin"),
        ("a==1", "has no hash"),
        ("pydantic==1.10 \\\n    --hash=sha256:" + "0" * 64, "1.10 is pinned"),
        ("", "which has no pin"),
    ],
)
def test_a_bad_lock_would_be_found(text: str, sentence: str) -> None:
    """Each way in which a lock goes wrong is told."""
    pyproject = (
        "build-system.requires = []\n"
        "project.dependencies = ['pydantic>=2']\n"
        "project.optional-dependencies = {}\n"
    )
    assert any(sentence in problem for problem in lock.problems(text, pyproject))


def test_the_wheel_holds_the_rooms_whole_and_nothing_else(tmp_path: Path) -> None:
    """The files that the code reads at run time are shipped with it."""
    checkout = tmp_path / "checkout"
    rooms = {path for path in _files() if path.startswith(tuple(f"{room}/" for room in ROOMS))}
    for path in rooms | {"pyproject.toml", "README.md", "LICENSE"}:
        (checkout / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, checkout / path)
    build = "import sys, setuptools.build_meta as b; b.build_wheel(sys.argv[1])"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("logosphere-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        shipped = {name for name in opened.namelist() if ".dist-info/" not in name}
    assert shipped == rooms


def _files() -> list[str]:
    """Give the files of this checkout that git tracks or would track, as paths from its root."""
    told = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return sorted(path for path in told.split("\0") if path and (ROOT / path).is_file())


def _modules(*rooms: str) -> Iterator[tuple[str, str]]:
    """Give path and source of each module of the rooms."""
    found = [path for room in rooms for path in sorted((ROOT / room).rglob("*.py"))]
    assert found, f"no module in {rooms}"
    for path in found:
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def _may_be_imported_by_the_domain(path: str, name: str) -> bool:
    root = name.partition(".")[0]
    for library, home in DOMAIN_LIBRARIES.items():
        if f"{name}.".startswith(f"{library}."):
            return path.startswith(home)
    return root == "domain" or root in sys.stdlib_module_names


def _impurities(source: str) -> Iterator[str]:
    reading = read(source)
    for line, name in reading.imports:
        if any(name == module or name.startswith(f"{module}.") for module in IMPURE_MODULES):
            yield f"{line} imports {name}"
    for line, name in reading.uses:
        if IMPURE_USE.fullmatch(name):
            yield f"{line} uses {name}"
