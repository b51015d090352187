"""Round places on an axis, and numbers as short texts."""

import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_STEPS = (
    *(1, 2, 5, 10, 15, 30),
    *(n * _MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * _HOUR for n in (1, 2, 3, 6, 12)),
    *(n * _DAY for n in (1, 2, 5, 10)),
)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000)
# the first and the last moment that a datetime can say, a second away from the end
_FIRST, _LAST = -62135596800, 253402300799
_SHORT = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k"))


class Tick(NamedTuple):
    """A place on an axis and its text."""

    at: float
    text: str


def number(value: float) -> str:
    """A value for a person: four digits that count, groups of thousands."""
    if value and not 1e-4 <= abs(value) < 1e15:
        return f"{value:.3g}"
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = 3 - math.floor(math.log10(abs(value)))
    return f"{value:.{max(digits, 0)}f}".rstrip("0").rstrip(".")


def of_numbers(low: float, high: float, most: int) -> list[Tick]:
    """At most so many round numbers between the two, at least one."""
    step = _round_step((high - low) / max(most, 1))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    while last - first + 1 > max(most, 1):
        step = _round_step(step * 1.01)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    # so far from zero that steps vanish, places fall together
    values = list(dict.fromkeys(n * step for n in range(first, last + 1))) or [low]
    return [Tick(v, text) for v, text in zip(values, _texts(values, step), strict=True)]


def of_times(low: float, high: float, most: int) -> list[Tick]:
    """At most so many round times between the two, in seconds since 1970, at least one."""
    span = high - low
    if span < 2:
        ticks = of_numbers(low, high, most)
        return [Tick(t.at, f"{_moment(t.at):%H:%M:%S.%f}"[:-3]) for t in ticks]
    for step in _STEPS:
        first = math.ceil(low / step)
        count = math.floor(high / step) - first + 1
        if 0 < count <= most or (count == 0 and step > span):
            values = [float((first + n) * step) for n in range(count)] or [low]
            return [Tick(v, _clock(v, step)) for v in values]
    for months in _MONTHS:
        found = _months(_moment(low), _moment(high), months)
        if 0 < len(found) <= most:
            form = "%Y" if months >= 12 else "%Y-%m"
            return [Tick(at.timestamp(), f"{at:{form}}") for at in found]
    return [Tick(low, f"{_moment(low):%Y-%m-%d}")]


def time_of(at: float, step: float) -> str:
    """A time as text, where its neighbours are so many seconds away."""
    moment = _moment(at)
    if step >= 27 * _DAY and moment.day == 1:
        return f"{moment:%Y}" if step >= 365 * _DAY else f"{moment:%Y-%m}"
    return f"{moment:%m-%d}" if step >= _DAY else _clock(at, step)


def span_of_times(low: float, high: float) -> str:
    """From when to when, as short as it can be said."""
    first, last = _moment(low), _moment(high)
    if high - low > 3 * _DAY:
        form = "%m-%d" if first.year == last.year else "%Y-%m-%d"
        return f"{first:%Y-%m-%d} to {last:{form}}"
    a, b = f"{first:%Y-%m-%d %H:%M}", f"{last:%Y-%m-%d %H:%M}"
    if a == b:
        return a
    return f"{a} to {last:%H:%M}" if first.date() == last.date() else f"{a} to {last:%m-%d %H:%M}"


def _round_step(least: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50 and so on."""
    if least <= 0 or not math.isfinite(least):
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    for factor in (1, 2, 5, 10):
        if factor * power >= least * (1 - 1e-9):
            return factor * power
    return 10 * power


def _texts(values: list[float], step: float) -> list[str]:
    largest = max(abs(v) for v in values)
    if largest >= 1e15 or 0 < largest < 1e-4:
        return [f"{v:.3g}" if v else "0" for v in values]
    for size, unit in _SHORT:
        if largest >= size:
            power = 1e3 if unit == "k" else size
            texts = [_short(v / power, step / power) for v in values]
            if all(a != b for a, b in pairwise(texts)):
                return [t + unit if t != "0" else t for t in texts]
    return [_short(v, step) for v in values]


def _short(value: float, step: float) -> str:
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    text = f"{value:.{min(digits, 12)}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _moment(at: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=min(max(at, _FIRST), _LAST))


def _clock(at: float, step: float) -> str:
    moment = _moment(at)
    if step >= _DAY:
        return f"{moment:%Y-%m-%d}"
    if at % _DAY == 0:
        return f"{moment:%m-%d}"
    return f"{moment:%H:%M:%S}" if step < _MINUTE else f"{moment:%H:%M}"


def _months(low: datetime, high: datetime, step: int) -> list[datetime]:
    """The first days of every so many months."""
    months = range(low.year * 12 + low.month - 1, high.year * 12 + high.month)
    firsts = [
        datetime(m // 12, m % 12 + 1, 1, tzinfo=UTC)
        for m in months
        if m % step == 0 and m // 12 >= 1
    ]
    return [at for at in firsts if low <= at <= high]
