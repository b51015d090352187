"""The file that is imported: opened for reading, never more, and told how far it has been read."""

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO, NamedTuple

from domain.errors import BadBundle

Told = Callable[[int, int], None]
"""Is told how many bytes have been read, and of how many."""

LONGEST = 32 << 20
"""Bytes of a line, or of whatever is read in one piece."""
UNPACKED = 8 << 30
"""Bytes that a zip may unpack to."""


class Opened(NamedTuple):
    """A file that can be read, and how large it is."""

    path: Path
    size: int
    zipped: bool = False

    @property
    def name(self) -> str:
        """Its name, without where it lies."""
        return self.path.name

    def parts(self, stem: str) -> list[str | None]:
        """The files named ``stem*.json`` in it, in order; the file itself, if it is no zip.

        Raises:
            BadBundle: there are none.
        """
        if not self.zipped:
            return [None]
        try:
            with zipfile.ZipFile(self.path) as archive:
                entries = [
                    one
                    for one in archive.infolist()
                    if Path(one.filename).name.startswith(stem) and one.filename.endswith(".json")
                ]
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise BadBundle(str(self.path), f"it is no zip that can be read ({error})") from None
        if not entries:
            raise BadBundle(str(self.path), f"there is no {stem}.json in it")
        if sum(one.file_size for one in entries) > UNPACKED:
            raise BadBundle(str(self.path), "it would unpack to more than 8 GiB")
        return [one.filename for one in sorted(entries, key=lambda one: one.filename)]


def look_at(path: Path) -> Opened:
    """See whether a file can be read.

    Raises:
        BadBundle: it can't, or it is none.
    """
    try:
        if not path.is_file():
            why = "is a directory: name a file" if path.is_dir() else "there is no such file"
            raise BadBundle(str(path), why)
        with path.open("rb") as file:
            start = file.read(4)
        return Opened(path, path.stat().st_size, start == b"PK\x03\x04")
    except OSError as error:
        raise BadBundle(str(path), f"it can't be read ({error.strerror or error})") from None


def silent(_: int, __: int) -> None:
    """Tell nobody."""


def lines(source: "Reader", file: Opened) -> Iterator[bytes]:
    """The lines of a file, without their ends.

    Raises:
        BadBundle: one is too long.
    """
    number, rest = 1, b""
    while chunk := source.read(max(1 << 20, len(rest))):
        *whole, rest = (rest + chunk).split(b"\n")
        number += len(whole)
        yield from whole
        if len(rest) > LONGEST:
            raise BadBundle(file.name, f"line {number} is longer than {LONGEST >> 20} MiB")
    yield rest


def digest(file: Opened, start: int = 0, end: int | None = None) -> str:
    """The sha256 of a part of a file, as hexadecimal digits."""
    end = file.size if end is None else end
    found = sha256()
    with file.path.open("rb") as source:
        source.seek(start)
        while start < end and (chunk := source.read(min(1 << 20, end - start))):
            found.update(chunk)
            start += len(chunk)
    return found.hexdigest()


class Reader:
    """A file that tells how far it has been read."""

    def __init__(self, file: IO[bytes], size: int, told: Told) -> None:
        self._file, self._size, self._told = file, size, told
        self._read = 0

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        chunk = self._file.read(size)
        self._read += len(chunk)
        self._told(self._read, self._size)
        return chunk


@contextmanager
def opened(file: Opened, part: str | None, told: Told) -> Iterator[Reader]:
    """Read a file, or one that is packed into it.

    Raises:
        BadBundle: it breaks off, or was changed.
    """
    try:
        if part is None:
            with file.path.open("rb") as source:
                yield Reader(source, file.size, told)
            return
        with zipfile.ZipFile(file.path) as archive, archive.open(part) as packed:
            yield Reader(packed, archive.getinfo(part).file_size, told)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise BadBundle(str(file.path), f"it can't be read ({error})") from None
