"""A model that looks for artifacts, held to a form; where it fails the rules look instead.

Whatever a model does, a look ends with findings: it is asked once more where its reply is no
findings, with the reason shown to it, and then given up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple

from commands.detection.looked import Looked
from commands.detection.prompt import system, told
from commands.detection.reading import Read, Unusable, read, schema
from commands.minds.mind import Mind, MindFailed, Reply, Request
from domain.artifacts import Shelf
from domain.detection.findings import Detect, Findings, Passage
from domain.errors import LogosphereError
from domain.events.thinking import packed

MOST_TOKENS = 2_000
"""Of a reply: the form takes a tenth of it, and some models think aloud before."""

_UNFIT = frozenset({400, 404, 422})
"""HTTP statuses of servers that do not understand a request, schema and all."""

SHOWN_AGAIN = 2_000
"""Characters of a reply that a model is shown when it is asked to mend it."""


class Answered(NamedTuple):
    """What came of asking a model for findings, and what it took."""

    findings: Findings | None
    """None where it brought none that can be read."""
    error: str | None
    """Why not, in one sentence."""
    model: str
    """As configured."""
    prompt_hash: bytes
    raw: str | None = None
    """Its replies to the letter, a line of ``---`` between two."""
    attempts: int = 0
    """Requests that were sent."""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    """None where nobody can say of any of them."""
    latency_ms: int = 0
    dropped: tuple[str, ...] = ()
    """What was left out of them, mostly ids that are not on the shelf; one sentence each."""


@dataclass(frozen=True)
class ModelDetector:
    """Asks a model, and the rules where it fails. The mind is made at the first look."""

    name: str
    """Of the mind, for the log."""
    make: Callable[[], Mind]
    rules: Detect
    timeout: float = 60.0
    """Seconds that one attempt may take."""
    most_tokens: int = MOST_TOKENS

    def look(self, passage: Passage, shelf: Shelf) -> Looked:
        """Look once, see :class:`commands.detection.looked.Detector`.

        A message that nobody has answered yet is only told where it belongs, by rules and at
        once: the model looks at both when the answer is there.
        """
        if passage.answer is None:
            said = self.rules(passage, shelf)
            where = Findings(effort=said.effort or None, mentions=said.mentions, words=said.words)
            return Looked(where, "rules")
        try:
            mind = self._mind
        except LogosphereError as error:
            return Looked(
                self.rules(passage, shelf), "rules", model=self.name, error=error.sentence
            )
        answered = ask(mind, passage, shelf, timeout=self.timeout, most_tokens=self.most_tokens)
        found = answered.findings
        return Looked(
            findings=self.rules(passage, shelf) if found is None else found,
            found_by="rules" if found is None else "model",
            model=answered.model,
            prompt_hash=answered.prompt_hash,
            raw=None if answered.raw is None else packed(answered.raw),
            error=answered.error or " ".join(answered.dropped) or None,
            attempts=answered.attempts,
            tokens_in=answered.tokens_in,
            tokens_out=answered.tokens_out,
            cost_usd=answered.cost_usd,
            latency_ms=answered.latency_ms,
        )

    @cached_property
    def _mind(self) -> Mind:
        return self.make()


def ask(
    mind: Mind,
    passage: Passage,
    shelf: Shelf,
    *,
    timeout: float = 60.0,
    most_tokens: int = MOST_TOKENS,
) -> Answered:
    """Ask a model for the findings of a passage; nothing that it does is raised.

    Args:
        mind: who is asked. A recorded one answers the user's n-th turn with its line n.
        passage: what is looked at.
        shelf: what is on record.
        timeout: seconds that one attempt may take.
        most_tokens: the most tokens of one reply.
    """
    prompt = told(passage, shelf)
    first = request(prompt, shelf, timeout=timeout, most_tokens=most_tokens)
    asking = _Asking(mind.name, _hash(prompt))
    reply = asking.send(mind, first)
    if reply is None and asking.status in _UNFIT:
        # a server that knows no schemas; the prompt describes the form as well
        reply = asking.send(mind, first._replace(schema=None))
    if reply is None:
        return asking.answered(None)
    understood = read(reply.text, shelf)
    if isinstance(understood, Unusable):
        reply = asking.send(mind, _again(first, reply, understood.why))
        if reply is None:
            return asking.answered(None)
        understood = read(reply.text, shelf)
    if isinstance(understood, Unusable):
        asking.error = f"{mind.name} replied twice, and it can't be used: {understood.why}."
        return asking.answered(None)
    return asking.answered(understood)


def request(prompt: str, shelf: Shelf, *, timeout: float, most_tokens: int) -> Request:
    """How a model is asked: without chance, and held to the form where it can be."""
    return Request(
        system=system().text,
        examples=(),
        prompt=prompt,
        max_tokens=most_tokens,
        temperature=0.0,
        seed=int.from_bytes(_hash(prompt)[:4]),
        timeout=timeout,
        iteration=max(1, shelf.turn),
        schema=schema(),
    )


class _Asking:
    """What asking took so far."""

    def __init__(self, model: str, prompt_hash: bytes) -> None:
        self.model, self.prompt_hash = model, prompt_hash
        self.error: str | None = None
        self.status: int | None = None
        """The HTTP status that the last request was refused with."""
        self.texts: list[str] = []
        self.replies: list[Reply] = []
        self.attempts = self.latency_ms = 0

    def send(self, mind: Mind, request: Request) -> Reply | None:
        """One request; None where no reply came."""
        try:
            reply = mind.reply(request)
        except MindFailed as failure:
            self.error, self.status = failure.sentence, failure.status
            self.attempts += failure.attempts
            self.latency_ms += failure.latency_ms
            if failure.partial:
                self.texts.append(failure.partial)
            return None
        except LogosphereError as error:
            self.error = error.sentence
            return None
        except Exception as error:  # noqa: BLE001 - no look may cost the dialogue
            self.error = f"{mind.name} broke ({error!r})."
            return None
        self.texts.append(reply.text)
        self.replies.append(reply)
        self.attempts += reply.attempts
        self.latency_ms += reply.latency_ms
        return reply

    def answered(self, understood: Read | None) -> Answered:
        """All of it."""
        costs = [reply.cost_usd for reply in self.replies if reply.cost_usd is not None]
        return Answered(
            findings=None if understood is None else understood.findings,
            error=None if understood is not None else self.error,
            model=self.model,
            prompt_hash=self.prompt_hash,
            raw="\n---\n".join(self.texts) if self.texts else None,
            attempts=self.attempts,
            tokens_in=_total([reply.tokens_in for reply in self.replies]),
            tokens_out=_total([reply.tokens_out for reply in self.replies]),
            cost_usd=sum(costs) if costs else None,
            latency_ms=self.latency_ms,
            dropped=() if understood is None else understood.dropped,
        )


def _again(first: Request, reply: Reply, why: str) -> Request:
    """The same once more, with the reply and what is wrong with it."""
    cut = " It was cut off: be brief." if reply.finish == "length" else ""
    return first._replace(
        examples=((first.prompt, reply.text[:SHOWN_AGAIN] or "(nothing)"),),
        prompt=f"This can't be used: {why}.{cut} Reply with the whole JSON object, mended, and"
        " with nothing else.",
    )


def _hash(prompt: str) -> bytes:
    """The sha256 of all that the model was told: the system prompt, NUL, the prompt."""
    return sha256(f"{system().text}\0{prompt}".encode()).digest()


def _total(numbers: list[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
