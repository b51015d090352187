"""When something is: ``tomorrow at 3``, ``next Friday``, ``on 12 May``, said at a known time.

A bare weekday is the next one to come, today left out; ``next Friday`` is that of the following
week. A day and month without a year is the next such day. An hour from 1 to 6 that says no more is
in the afternoon; one from 7 to 11 is in the morning unless the text speaks of an evening.
"""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import NamedTuple

from domain.detection.prose import says


class When(NamedTuple):
    """A moment that a text speaks of, in the user's local time."""

    when: str
    """ISO 8601: a date, or a date and a time."""
    expires: str | None
    """The last day, where a week or a month is meant."""
    rest: str
    """The text without the words that said when."""
    over: bool
    """Whether it lies before now."""
    day: bool
    """Whether the text names the day, and not the time alone."""


_WEEKDAYS = (
    ("monday", "mon", "montag", "lunes"),
    ("tuesday", "tue", "tues", "dienstag", "martes"),
    ("wednesday", "wed", "mittwoch", "miércoles", "miercoles"),
    ("thursday", "thu", "thur", "thurs", "donnerstag", "jueves"),
    ("friday", "fri", "freitag", "viernes"),
    ("saturday", "samstag", "sonnabend", "sábado", "sabado"),
    ("sunday", "sonntag", "domingo"),
)
_MONTHS = (
    ("january", "jan", "januar", "jänner", "enero"),
    ("february", "feb", "februar", "febrero"),
    ("march", "mar", "märz", "marzo"),
    ("april", "apr", "abril"),
    ("may", "mai", "mayo"),
    ("june", "jun", "juni", "junio"),
    ("july", "jul", "juli", "julio"),
    ("august", "aug", "agosto"),
    ("september", "sept", "sep", "septiembre"),
    ("october", "oct", "oktober", "okt", "octubre"),
    ("november", "nov", "noviembre"),
    ("december", "dec", "dezember", "dez", "diciembre"),
)
_NUMBERS = {
    word: number
    for number, words in enumerate(
        (
            *("one a an ein eine einem einer un una", "two zwei dos couple", "three drei tres"),
            *("four vier cuatro", "five fünf cinco", "six sechs seis", "seven sieben siete"),
            *("eight acht ocho", "nine neun nueve", "ten zehn diez", "eleven elf once"),
            "twelve zwölf doce",
        ),
        1,
    )
    for word in words.split()
}


def _any(rows: tuple[tuple[str, ...], ...]) -> str:
    return "|".join(sorted((word for row in rows for word in row), key=len, reverse=True))


_MONTH = rf"(?P<month>{_any(_MONTHS)})"
_YEAR = r"(?:,?\ (?P<year>20\d\d)\b)?"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))}|a\ couple\ of)"
_BEFORE = (
    r"(?:\b(?:on|by|until|till|before|from|this|coming|the|am|bis|ab|el|en|de|for|is"
    r"|no\ later\ than)"
    r"\ +){0,3}"
)
_PAST = r"""\b(?:yesterday|gestern|vorgestern|ayer|ago|last\ (?:week|month|year|night|monday
    |tuesday|
    wednesday|thursday|friday|saturday|sunday)|letzte[nrs]?|every|each|jeden|cada|since|seit
    |desde)\b"""

_DAYS: tuple[tuple[str, str], ...] = (
    (
        "range",
        (
            r"\b(?:from|between|vom|del)\ (?:the\ )?(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?\ ?"
            r"(?:to|until|till|and|-|bis|al)\ ?(?:the\ )?(?P<last>\d{1,2})(?:st|nd|rd|th|\.)?"
            rf"\ (?:of\ |de\ )?{_MONTH}\b{_YEAR}"
        ),
    ),
    ("iso", rf"{_BEFORE}\b(?P<year>20\d\d)-(?P<mon>\d\d)-(?P<day>\d\d)\b"),
    (
        "month",
        (
            rf"{_BEFORE}\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?(?:\ (?:of"
            rf"|de))?\ {_MONTH}\b{_YEAR}"
        ),
    ),
    (
        "month",
        (
            rf"{_BEFORE}\b{_MONTH}\.?\ (?:the\ )?(?P<day>\d{{1,2}})(?:st|nd|rd"
            rf"|th)?\b(?!:){_YEAR}"
        ),
    ),
    (
        "dotted",
        (
            rf"{_BEFORE}\b(?P<day>\d{{1,2}})\.\ ?(?P<mon>\d{{1,2}})\."
            r"(?:\ ?(?P<year>20\d\d)\b)?"
        ),
    ),
    (
        "end",
        (
            r"(?:\b(?:before|by|until|at)\ )?(?:the\ )?\bend\ of\ (?:the\ |this\ )?(?P<unit>week"
            r"|month|year)\b"
        ),
    ),
    ("after", r"\b(?:the\ )?(?:day\ after\ tomorrow|übermorgen|pasado\ mañana)\b"),
    (
        "tomorrow",
        (
            rf"{_BEFORE}(?:\btomorrow(?:\ (?:morning|afternoon|evening|night))?"
            rf"|(?<!guten\ )\bmorgen(?:\ früh)?|(?<!la\ )(?<!buena\ )\bmañana)\b"
        ),
    ),
    (
        "today",
        (
            r"\b(?:(?:later\ )?today|tonight|this\ (?:morning|afternoon|evening)"
            r"|heute(?:\ abend)?|hoy|esta\ (?:tarde|noche))\b"
        ),
    ),
    (
        "in",
        (
            rf"\b(?:in|en)\ (?:about\ |exactly\ )?{_COUNT}\ (?P<unit>minutes?|mins?|minuten?"
            rf"|minutos?|hours?|stunden?|horas?|days?|tage?n?|días?|weeks?|wochen?|semanas?"
            rf"|months?|monate?n?|mes|meses)\b"
        ),
    ),
    ("half", r"\bin\ half\ an\ hour\b"),
    (
        "span",
        (
            r"\b(?P<which>next|this|nächste[nrs]?|diese[nrs]?)\ (?P<unit>week|month|year|woche"
            r"|monat|jahr)\b"
        ),
    ),
    (
        "weekday",
        (
            rf"{_BEFORE}(?P<next>next\ |nächste[nr]?\ |próximo\ "
            rf"|kommende[nr]?\ )?\b(?P<weekday>{_any(_WEEKDAYS)})\b(?:\ (?:morning|afternoon"
            rf"|evening|night|que\ viene))?"
        ),
    ),
    ("nth", r"\b(?:on|by|until|before|is)\ (?:the\ )?(?P<day>\d{1,2})(?:st|nd|rd|th)\b"),
    ("nth", r"\bam\ (?P<day>\d{1,2})\.(?!\d)"),
    ("nth", r"\bel\ día\ (?P<day>\d{1,2})\b"),
)

_AT = r"(?:,?\ ?\b(?:at|around|about|from|by|um|gegen|ab|a\ las?)\ )?"
_TIMES: tuple[tuple[str, str], ...] = (
    ("noon", rf"{_AT}\b(?:noon|midday|mittags?|mediodía)\b"),
    ("half", rf"{_AT}\bhalf\ past\ {_COUNT}\b"),
    ("quarter", rf"{_AT}\b(?:a\ )?quarter\ (?P<side>past|to)\ {_COUNT}\b"),
    (
        "clock",
        (
            rf"{_AT}\b(?P<hour>\d{{1,2}}):(?P<minute>[0-5]\d)(?!\d)"
            r"(?:\ ?(?P<half>[ap])\.?m\b\.?|\ uhr|\ ?h\b)?"
        ),
    ),
    # a number such as 3.11 is a time only where something else says so
    ("clock", r"\b(?:at|um|gegen)\ (?P<hour>\d{1,2})\.(?P<minute>[0-5]\d)(?![\d.])"),
    (
        "clock",
        (
            rf"{_AT}\b(?P<hour>\d{{1,2}})\.(?P<minute>[0-5]\d)\ ?"
            r"(?:(?P<half>[ap])\.?m\b\.?|uhr\b)"
        ),
    ),
    ("hour", rf"{_AT}\b(?P<hour>\d{{1,2}})\ ?(?P<half>[ap])\.?m\b\.?"),
    ("hour", rf"{_AT}\b(?P<hour>\d{{1,2}})\ (?:uhr|o'clock)\b"),
    (
        "hour",
        (
            r",?\ ?\b(?:at|around|um|gegen|a\ las?)\ (?P<hour>\d{1,2})\b(?![:.,]?\d)(?!\ ?(?:%"
            r"|°|euro|eur|usd|percent|km|m|kg))"
        ),
    ),
)
_EVENING = r"""\b(?:tonight|evening|dinner|night|concert|movie|party|abend|abends|noche|cena
    |afternoon|pm|p\.m\.)\b"""


def find(text: str, now: str) -> When | None:
    """When a text says that something is; None where it says nothing, or speaks of the past."""
    try:
        at = datetime.fromisoformat(now[:16])
    except ValueError:
        return None
    if says(_PAST, text):
        return None
    try:
        return _found(text, at.replace(tzinfo=None))
    except (ValueError, OverflowError):  # the 31st of February
        return None


def _found(text: str, now: datetime) -> When | None:
    rest, moment, until, timed = text, None, None, False
    for kind, cue in _DAYS:
        match = says(cue, rest)
        if match is None:
            continue
        if kind in {"in", "half"}:
            moment, timed = _later(match, now)
        else:
            day = _DAY[kind](match, now.date())
            moment = datetime.combine(day, datetime.min.time())
            until = _until(kind, match, day)
        rest = f"{rest[: match.start()]} {rest[match.end() :]}"
        if kind != "weekday" or says(dict(_DAYS)["month"], rest) is None:
            break
    rest, clock = (rest, None) if timed else _clock(rest, evening=bool(says(_EVENING, text)))
    if moment is None and clock is None:
        return None
    named = moment is not None
    if clock is not None:
        day_ = (moment or now).date()
        moment = datetime.combine(day_, datetime.min.time()) + clock
        if until is None and day_ == now.date() and moment < now and says(_TODAY, text) is None:
            moment += timedelta(days=1)
        until = None
    assert moment is not None  # noqa: S101 — one of the two was there
    over = moment < now if clock is not None or timed else moment.date() < now.date()
    exact = clock is not None or timed
    when = moment.isoformat(timespec="minutes") if exact else moment.date().isoformat()
    return When(when, until.isoformat() if until else None, " ".join(rest.split()), over, named)


_TODAY = dict(_DAYS)["today"]


def _later(match: re.Match[str], now: datetime) -> tuple[datetime, bool]:
    """So much time from now, and whether that names a time of day."""
    if "count" not in match.groupdict():
        return now + timedelta(minutes=30), True
    count, unit = _number(match["count"]), match["unit"]
    if unit.startswith(("min",)):
        return now + timedelta(minutes=count), True
    if unit.startswith(("h", "stunde")):
        return now + timedelta(hours=count), True
    if unit.startswith(("d", "tag")):
        return now + timedelta(days=count), False
    if unit.startswith(("w", "semana")):
        return now + timedelta(weeks=count), False
    return datetime.combine(_months_on(now.date(), count), now.time()), False


def _until(kind: str, match: re.Match[str], day: date) -> date | None:
    if kind == "range":
        return day.replace(day=int(match["last"]))
    if kind != "span":
        return None
    return _last(day, match["unit"])


def _last(day: date, unit: str) -> date:
    """The last day of the week, month or year that a day is in."""
    if unit.startswith("w"):
        return day + timedelta(days=6 - day.weekday())
    if unit.startswith("mo"):
        return day.replace(day=monthrange(day.year, day.month)[1])
    return day.replace(month=12, day=31)


def _span(match: re.Match[str], today: date) -> date:
    if match["which"].startswith(("this", "dies")):
        return today
    return _last(today, match["unit"]) + timedelta(days=1)


def _month_day(match: re.Match[str], today: date) -> date:
    return _coming(_index(_MONTHS, match["month"]) + 1, match, today)


def _coming(month: int, match: re.Match[str], today: date) -> date:
    if match["year"]:
        return date(int(match["year"]), month, int(match["day"]))
    day = date(today.year, month, int(match["day"]))
    return day if day >= today else day.replace(year=today.year + 1)


def _weekday(match: re.Match[str], today: date) -> date:
    wanted = _index(_WEEKDAYS, match["weekday"])
    if match["next"] and not match["next"].startswith("kommend"):
        return today + timedelta(days=7 - today.weekday() + wanted)
    return today + timedelta(days=(wanted - today.weekday() - 1) % 7 + 1)


def _nth(match: re.Match[str], today: date) -> date:
    day = int(match["day"])
    return today.replace(day=day) if day >= today.day else _months_on(today, 1).replace(day=day)


def _months_on(day: date, count: int) -> date:
    month = day.month - 1 + count
    year, month = day.year + month // 12, month % 12 + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))


_DAY: dict[str, Callable[[re.Match[str], date], date]] = {
    "iso": lambda m, _: date(int(m["year"]), int(m["mon"]), int(m["day"])),
    "range": _month_day,
    "month": _month_day,
    "dotted": lambda m, today: _coming(int(m["mon"]), m, today),
    "end": lambda m, today: _last(today, m["unit"]),
    "after": lambda _, today: today + timedelta(days=2),
    "tomorrow": lambda _, today: today + timedelta(days=1),
    "today": lambda _, today: today,
    "span": _span,
    "weekday": _weekday,
    "nth": _nth,
}


def _clock(text: str, *, evening: bool) -> tuple[str, timedelta | None]:
    """The text without its time of day, and that time."""
    for kind, cue in _TIMES:
        match = says(cue, text)
        if match is None:
            continue
        if kind == "noon":
            hour, minute, half = 12, 0, "p"
        elif kind in {"half", "quarter"}:
            hour, minute, half = _number(match["count"]), 30 if kind == "half" else 15, None
            if kind == "quarter" and match["side"] == "to":
                hour, minute = hour - 1, 45
        else:
            groups = match.groupdict()
            hour, minute = int(match["hour"]), int(groups.get("minute") or 0)
            half = groups.get("half") or ("uhr" if "uhr" in match.group() else None)
            if kind == "clock" and half is None and hour >= 7 and not evening:
                half = "a"
        if hour > 23:
            return text, None
        hour = _of_day(hour, half, evening=evening)
        rest = f"{text[: match.start()]} {text[match.end() :]}"
        return rest, timedelta(hours=hour, minutes=minute)
    return text, None


def _of_day(hour: int, half: str | None, *, evening: bool) -> int:
    if half == "uhr" or hour > 12 or hour == 0:
        return hour
    if half in {"a", "p"}:
        return hour % 12 + (12 if half == "p" else 0)
    afternoon = hour <= 6 or (evening and hour < 12)
    return hour + 12 if afternoon else hour


def _index(rows: tuple[tuple[str, ...], ...], word: str) -> int:
    return next(n for n, row in enumerate(rows) if word.lower() in row)


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS.get(word.lower(), 2)
