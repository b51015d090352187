"""Dates and times that people give, as artifacts hold them."""

from datetime import date, datetime

from domain.errors import BadSetting

_DAY = len("2026-05-02")


def checked_moment(text: str) -> str:
    """A date, or a date and a time to the minute, in the user's local time: ISO 8601.

    Raises:
        BadSetting: it is neither, or names an offset.
    """
    text = text.strip()
    try:
        if len(text) <= _DAY:
            return date.fromisoformat(text).isoformat()
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadSetting(
            f"{text!r} is no date: write 2026-05-02, or 2026-05-02T15:00 with a time."
        ) from None
    if moment.tzinfo is not None:
        raise BadSetting(f"{text!r} names an offset: write your local time, without one.")
    return moment.isoformat(timespec="minutes")


def optional_moment(text: str | None) -> str | None:
    """As :func:`checked_moment`, where one is given."""
    return checked_moment(text) if text is not None else None


def check_order(when: str | None, expires: str | None) -> None:
    """Make sure that nothing is over before it begins.

    Raises:
        BadSetting: it is.
    """
    if when is None or expires is None:
        return
    # a day lasts to its end, and has begun with its first minute
    if expires[: len(when)] < when[: len(expires)]:
        raise BadSetting(f"It would be over ({expires}) before it begins ({when}): check both.")
