"""The sentences for invocations that fail, the same whoever asked: one builder per situation."""

from typing import NamedTuple

from commands.minds.mind import MindFailed

QUOTED = 300
"""The most characters of a provider's own words that a sentence repeats."""


class Asked(NamedTuple):
    """Who was asked, as a sentence needs it. The key is known here only to be cut out of texts."""

    name: str
    key_variable: str = ""
    """The environment variable that holds the key; empty where no key is needed."""
    key: str = ""

    def __repr__(self) -> str:
        return f"Asked(name={self.name!r}, key_variable={self.key_variable!r})"

    def quote(self, text: str) -> str:
        """A provider's words on one line, without the key, cut to :data:`QUOTED` characters."""
        # the key first: a cut through its middle would leave half of it standing
        clean = text.replace(self.key, "[key]") if self.key else text
        line = " ".join("".join(c if c.isprintable() else " " for c in clean).split())
        return line if len(line) <= QUOTED else line[: QUOTED - 1] + "…"

    def because(self, text: str) -> str:
        """The same in brackets, with the space before; empty for no words."""
        quoted = self.quote(text)
        return f" ({quoted})" if quoted else ""


def timed_out(asked: Asked, seconds: float, partial: str = "") -> MindFailed:
    """No whole answer within the time of one attempt."""
    return MindFailed(
        f"{asked.name} did not answer within {seconds:g} s: try again, or allow more time.",
        retryable=True,
        partial=partial,
    )


def unreachable(asked: Asked, detail: str) -> MindFailed:
    """No connection, or none that lasted."""
    return MindFailed(
        f"{asked.name} can't be reached{asked.because(detail)}: check the network and try again.",
        retryable=True,
    )


def broke_off(asked: Asked, partial: str) -> MindFailed:
    """The connection ended in the middle of the answer."""
    where = f"after {len(partial)} characters" if partial else "before the first word"
    return MindFailed(
        f"{asked.name} broke off {where}: try again.",
        retryable=True,
        partial=partial,
    )


def garbled(asked: Asked, detail: str, partial: str = "") -> MindFailed:
    """An answer, but not in the form that the protocol promises."""
    return MindFailed(
        f"{asked.name} answered with something that is no reply{asked.because(detail)}: try again,"
        " and check the address if it stays so.",
        retryable=True,
        partial=partial,
    )


def endless(asked: Asked, partial: str) -> MindFailed:
    """More text than the tokens that were asked for could ever be."""
    return MindFailed(
        f"{asked.name} did not stop after {len(partial)} characters: choose another model.",
        retryable=False,
        partial=partial,
    )


def refused(
    asked: Asked,
    status: int,
    detail: str = "",
    *,
    retry_after: float | None = None,
    partial: str = "",
    waiting_helps: bool = True,
) -> MindFailed:
    """An HTTP status of 400 and above.

    Args:
        asked: who answered so.
        status: the HTTP status.
        detail: the provider's own words.
        retry_after: the seconds it asked us to wait.
        partial: what had arrived before.
        waiting_helps: False where the account has run dry, which providers say with 429 too.
    """
    said = asked.quote(detail)
    why = f" (HTTP {status}: {said})" if said else f" (HTTP {status})"
    # 408 and 425 say "again, later" as 429 does, though they are of the 400s
    retryable = waiting_helps and (status in {408, 425, 429} or status >= 500)
    if status in {401, 403}:
        what = f"did not accept the key{why}: check {asked.key_variable}"
    elif status == 404:
        what = f"does not know this model or address{why}: check the model's name"
    elif status == 402 or not waiting_helps:
        what = f"has no credit left for you{why}: top up the account"
    elif status == 429:
        wait = f" in {retry_after:g} s" if retry_after else " later"
        what = f"has had too many requests{why}: try again{wait}"
    elif retryable:
        what = f"is in trouble{why}: try again later"
    else:
        what = f"refused the request{why}: change it before you try again"
    return MindFailed(
        f"{asked.name} {what}.",
        retryable=retryable,
        retry_after=retry_after,
        partial=partial,
        status=status,
    )
