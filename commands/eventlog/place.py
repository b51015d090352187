"""Where a store is, and what of it lies on this machine."""

import os
import re
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from domain.errors import Broken
from domain.server_errors import BadPlace

_SCHEMES = ("postgresql", "postgres")
_OURS = frozenset({"schema", "cell", "replication"})
"""Options of an address that are ours; all others are libpq's."""

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,47}")
_SECRETS = frozenset(
    {"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}
)
_STRICTER = {
    "sslmode": ("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    "channel_binding": ("disable", "prefer", "require"),
}
"""From the most lenient to the strictest; libpq prefers where nothing is said."""

_DEMANDS = {
    "sslmode": "PGSSLMODE",
    "channel_binding": "PGCHANNELBINDING",
    "sslrootcert": "PGSSLROOTCERT",
    "require_auth": "PGREQUIREAUTH",
}
"""What can be demanded of a server before it gets a password, and the variables that do so."""

_BROKEN = re.compile(r"%(?![0-9a-fA-F]{2})|%00")
_UNPRINTED = re.compile(r"[\s\x00-\x1f\x7f]")


class Address(NamedTuple):
    """A store on a PostgreSQL server."""

    conninfo: str
    """What libpq connects to; it may hold a password, and is shown to nobody."""
    shown: str
    """The same without one, and with our options."""
    schema: str
    cell: str | None
    """Which of the store's cells alone is meant; all of them if None."""
    synchronous: bool
    """Whether to write only where a standby confirms each write."""
    read_only: bool = False
    """Whether whoever connects may write nothing, whatever his rights are."""

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"  # which tracebacks and logs may hold


class Place(NamedTuple):
    """Where a store is.

    A name of one is a directory, or ``postgresql://user@host/database``.
    """

    home: Path
    """What lies on this machine: all of a store in a directory, else what can be made anew."""
    url: str | None = None
    """The address of the server that holds the log; None where it is in ``home``."""

    def __repr__(self) -> str:
        return f"Place({str(self)!r})"

    def __str__(self) -> str:
        return str(self.home) if self.url is None else address_of(self.url).shown

    @property
    def name(self) -> str:
        """What opens it again, from any directory; an address's password included."""
        return self.url or str(self.home.absolute())

    @property
    def directory(self) -> Path | None:
        """The store's directory; None where it is on a server."""
        return self.home if self.url is None else None

    @property
    def address(self) -> Address:
        """The server's address; only of a place that has one."""
        if self.url is None:
            raise TypeError(str(self.home))
        return address_of(self.url)

    def with_options(self, **ours: str | None) -> "Place":
        """The same server with some of our options set otherwise; None takes one away."""
        if self.url is None:
            raise TypeError(str(self.home))
        parts = _parts(self.url)
        kept = [text for text in parts.options if _pair(text)[0] not in ours]
        said = [f"{name}={quote(value, safe='')}" for name, value in ours.items() if value]
        return place_of(str(parts._replace(options=(*kept, *said))))


class _Parts(NamedTuple):
    """An address, taken apart as libpq does it: nothing is decoded, and ``#`` means nothing."""

    scheme: str
    login: str
    """``user:password@``, or nothing."""
    hosts: str
    database: str
    """With the slash before it."""
    options: tuple[str, ...]
    """As they stand there, such as ``schema=mine``."""

    def __str__(self) -> str:
        query = f"?{'&'.join(self.options)}" if self.options else ""
        return f"{self.scheme}://{self.login}{self.hosts}{self.database}{query}"

    @property
    def shown(self) -> str:
        """The same without what is secret."""
        if self.is_torn:
            return f"{self.scheme}://{str(self).rpartition('@')[2]}"
        user = self.login.removesuffix("@").partition(":")[0]
        open_ = (text for text in self.options if _pair(text)[0].lower() not in _SECRETS)
        return str(self._replace(login=f"{user}@" if user else "", options=tuple(open_)))

    @property
    def is_torn(self) -> bool:
        """Whether a piece of the password, which should have been encoded, lies anywhere else."""
        return "@" in str(self._replace(login=""))


def _parts(url: str) -> _Parts:
    scheme, _, rest = url.partition("://")
    login = re.match(r"[^@/]*@", rest)
    rest = rest[login.end() :] if login else rest
    path, _, query = rest.partition("?")
    hosts, slash, database = path.partition("/")
    options = tuple(query.split("&")) if query else ()
    return _Parts(scheme, login.group() if login else "", hosts, slash + database, options)


def _pair(option: str) -> tuple[str, str]:
    name, _, value = option.partition("=")
    return unquote(name), unquote(value)


def place_of(name: str | os.PathLike[str]) -> Place:
    """The place that a name means: a directory, or an address.

    Raises:
        BadPlace: it is an address that nothing can be at.
    """
    text = os.fspath(name)
    if not text.strip():  # an unset variable of somebody's script, and not the directory here
        raise BadPlace(text, "it is empty")
    if "://" in text:
        text = text.strip()
    scheme = text.partition("://")[0] if "://" in text else ""
    if not scheme:
        return Place(Path(text))
    if scheme not in _SCHEMES:
        raise BadPlace(without_secrets(text), f"a store can't be reached by {scheme}://")
    address = address_of(text)
    key = sha256(address.shown.encode()).hexdigest()[:20]
    return Place(_caches() / "stores" / key, text)


def address_of(url: str) -> Address:
    """Take an address apart.

    Raises:
        BadPlace: it is not one, or one of our options is none.
    """
    parts = _parts(url)
    shown = parts.shown
    pairs = [_pair(option) for option in parts.options]
    ours = {name: value for name, value in pairs if name in _OURS}
    theirs = tuple(text for text in parts.options if _pair(text)[0] not in _OURS)
    schema = ours.get("schema", "logosphere")
    if parts.is_torn or _BROKEN.search(url) or _UNPRINTED.search(url):
        why = "in a name or password, @ is written %40, / %2F, % %25, a space %20"
        raise BadPlace(shown, why)
    if len(ours) + len(theirs) < len(parts.options):
        raise BadPlace(shown, "it says an option twice")
    if not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
        raise BadPlace(shown, "a schema is named with small letters, digits and underscores")
    if ours.get("replication", "sync") != "sync":
        raise BadPlace(shown, "replication can only be asked to be sync")
    if not parts.database.strip("/") and not {"dbname", "service"} & {name for name, _ in pairs}:
        raise BadPlace(shown, "it names no database")
    conninfo = str(parts._replace(options=theirs))
    return Address(conninfo, shown, schema, ours.get("cell"), "replication" in ours)


def options_of(url: str) -> set[str]:
    """The names of what an address says behind its question mark."""
    return {_pair(option)[0] for option in _parts(url).options}


def as_strict(url: str, other: str) -> str:
    """An address that is gone to no less strictly than another one, or than the environment says.

    Of what is demanded there of a server, ``sslmode`` and ``channel_binding`` hold where they are
    the stronger ones, and ``sslrootcert`` and ``require_auth`` in any case.
    """
    parts = _parts(url)
    own, others = (dict(map(_pair, each.options)) for each in (parts, _parts(other)))
    wins = {}
    for name, variable in _DEMANDS.items():
        demand = others.get(name) or os.environ.get(variable)
        if demand and (
            name not in _STRICTER
            or _strictness(name, demand) > _strictness(name, own.get(name, "prefer"))
        ):
            wins[name] = demand
    kept = [text for text in parts.options if _pair(text)[0] not in wins]
    said = [f"{name}={quote(value, safe='')}" for name, value in wins.items()]
    return str(parts._replace(options=(*kept, *said)))


def _strictness(name: str, value: str) -> int:
    """The higher, the stricter; what libpq does not know, it refuses by itself."""
    order = _STRICTER[name]
    return order.index(value if value in order else "prefer")


def without_secrets(url: str) -> str:
    """An address that may be shown and remembered."""
    return _parts(url).shown


def _caches() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "mind"


def prepared(place: Place) -> Place:
    """The same place, with a directory on this machine for what can be made anew.

    Raises:
        Broken: there can't be one.
    """
    if place.url is not None:
        try:
            place.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise Broken(
                f"{str(place.home)!r} can't be made ({error.strerror}), where what is worked out"
                " from the log is kept: name another place by XDG_CACHE_HOME."
            ) from error
    return place
