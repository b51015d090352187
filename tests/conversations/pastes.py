"""What people paste: logs, stack traces, code, tables and minutes, each of a wanted length."""

from collections.abc import Callable, Iterator
from itertools import count
from random import Random

_MODULES = ("pool", "gateway", "worker", "auth", "ledger", "search", "mailer", "scheduler", "cache")
_SAID = (
    "connection reset by peer, attempt {n} of 5",
    "took {n} ms, expected at most 250",
    "accepted request {hex} from 10.0.{m}.{n}",
    "lock held by {hex} for {n} s",
    "wrote {n} rows in {m} batches",
    "no handler for event {hex}, dropped",
    "retrying in {m} s",
    "certificate of 10.0.{m}.{n} expires in {m} days",
)
_NOUNS = ("booking", "reading", "invoice", "reader", "session", "token", "batch", "refund", "image")


def paste(random: Random, characters: int, *, technical: bool) -> str:
    """Something of about that length: what a terminal showed, or what people wrote down."""
    kinds: tuple[Callable[[Random], Iterator[str]], ...] = (
        (_log, _trace, _code, _rows) if technical else (_rows, _minutes)
    )
    lines: list[str] = []
    size = 0
    for line in random.choice(kinds)(random):
        lines.append(line)
        size += len(line) + 1
        if size >= characters:
            break
    return "```\n" + "\n".join(lines) + "\n```"


def _filled(random: Random, text: str) -> str:
    return text.format(
        n=random.randint(2, 250), m=random.randint(2, 40), hex=f"{random.getrandbits(32):08x}"
    )


def _log(random: Random) -> Iterator[str]:
    second = random.randint(0, 80_000)
    while True:
        second += random.randint(0, 9)
        hour, rest = divmod(second % 86_400, 3600)
        level = random.choices(("DEBUG", "INFO", "WARNING", "ERROR"), (4, 9, 3, 1))[0]
        said = _filled(random, random.choice(_SAID))
        clock = f"{hour:02}:{rest // 60:02}:{rest % 60:02}.{random.randint(0, 999):03}"
        yield f"2026-05-{1 + second % 28:02}T{clock}Z {level:7} {random.choice(_MODULES)}: {said}"


def _trace(random: Random) -> Iterator[str]:
    while True:
        yield "Traceback (most recent call last):"
        for _ in range(random.randint(4, 12)):
            module, noun = random.choice(_MODULES), random.choice(_NOUNS)
            line = random.randint(11, 480)
            yield f'  File "app/{module}.py", line {line}, in {random.choice(_MODULES)}_{noun}'
            yield f"    return self.{module}.{noun}_for({noun}_id, timeout={line % 60})"
        yield f"TimeoutError: {_filled(random, random.choice(_SAID))}"


def _code(random: Random) -> Iterator[str]:
    for number in count(1):
        noun, other = random.sample(_NOUNS, 2)
        yield f"def {noun}s_of_{other}_{number}({other}: str, limit: int = {number % 90}):"
        yield f'    """All {noun}s that belong to one {other}, newest first."""'
        yield f"    # User: is this limit ever reached? ({random.choice(_MODULES)} asks for 20)"
        yield f"    rows = db.{noun}s.where({other}={other}, order='-created_at')"
        yield f"    return [{noun.capitalize()}(*row) for row in rows[:limit]]"
        yield ""


def _rows(random: Random) -> Iterator[str]:
    columns = random.sample(_NOUNS, 4)
    yield ",".join(("date", *columns))
    for day in count():
        cells = (str(random.randint(0, 9_999)) for _ in columns)
        yield ",".join((f"2026-{1 + day // 28 % 12:02}-{1 + day % 28:02}", *cells))


def _minutes(random: Random) -> Iterator[str]:
    people = ("Anneke", "Bruno", "Ines", "Jonas", "Leyla", "Mira", "Okan", "Paul")
    for number in count(1):
        one, other = random.sample(people, 2)
        noun, second = random.sample(_NOUNS, 2)
        yield f"{number}. {one} reports on the {noun}: {random.randint(2, 60)} of them since last"
        yield f"   time. {other} asks whether the {second} could wait; {one} will look into it"
        yield f"   until the {random.randint(2, 28)}th. No objections."
