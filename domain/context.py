"""What of a session a mind is shown besides its thoughts and drafts: artifacts and exchanges.

The whole is bounded whatever the length of the dialogue: open efforts, what was concluded and
learned as long as somebody speaks of it, and the exchanges that nothing stands for yet, the newest
ten of them always. It is a function of the state alone, so that the context of any moment can be
built again and explained. Room is counted as the full dialect renders things; the compact one
shows less of them.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from domain.artifacts import Artifact, Place, Shelf
from domain.config import Config
from domain.dialogue import Exchange
from domain.protocol.compact import MARKER, clip
from domain.protocol.render import artifact_lines
from domain.protocol.scalar import scalar
from domain.protocol.view import ArtifactSeen
from domain.session import Session
from domain.tokens import characters, estimate, tokens_in
from domain.tokens import size as weighed

RECENT = 10
"""Exchanges that are always shown, however little room there is."""

ARTIFACT_SIZE = 600
"""Bytes of one artifact that are shown."""

FRAME = 16
"""Tokens that stand around each item: its head, its marks."""

AROUND = 200
"""Tokens of what is always there: the limits, the user's presence, the orientation."""

LEAST_TURN = 40
"""Bytes of a turn that are left at least when it is cut for want of room."""

LEAST = 2 * RECENT * (tokens_in(LEAST_TURN) + FRAME)
"""Tokens that the newest exchanges take at least."""


class Turn(NamedTuple):
    """A side of an exchange that is shown."""

    exchange: Exchange
    sender: Literal["user", "self"]
    text: str
    whole: bool
    """Whether it is all that was said; else the middle is left out."""
    why: str


class Held(NamedTuple):
    """An artifact that is shown."""

    artifact: Artifact
    text: str
    tokens: int
    why: str

    @property
    def seen(self) -> ArtifactSeen:
        """As it stands in a view."""
        return _seen(self.artifact, self.text)


class LeftOut(NamedTuple):
    """Something that is not shown."""

    what: str
    """An exchange (``exc_4_000``) or an artifact (``fact 412``)."""
    why: str
    stands: int | None = None
    """The artifact that stands for an exchange, shown or not."""


class Context(NamedTuple):
    """What is shown, and what is not."""

    memory: tuple[Held, ...]
    """Oldest first, so that what is added comes last."""
    turns: tuple[Turn, ...]
    """Oldest first."""
    left_out: tuple[LeftOut, ...]
    tokens: int
    """About how many tokens both take."""
    memory_room: int = 0
    """How many the artifacts may take."""


class _Said(NamedTuple):
    """An exchange that is to be shown, and how badly."""

    exchange: Exchange
    why: str
    rank: int = 2
    """0 is shown whatever the room, 1 was asked for, 2 is the rest."""


def assemble(session: Session, user_time: str, taken: int = 0) -> Context:
    """The artifacts and turns that a mind is shown.

    Args:
        session: the state.
        user_time: the user's local time, ISO 8601: what is over by then is not shown.
        taken: tokens that the rest of the prompt takes.
    """
    config = session.config
    room = config.context_tokens - taken
    memory_room = _memory_room(config, room)
    held, passed = _memory(session.shelf, user_time, memory_room)
    used = sum(one.tokens for one in held)
    said, absent = _told_apart(session)
    turns, left = _turns(said, config, room - used)
    spoken = sum(_tokens_of_turn(turn.text) for turn in turns)
    return Context(tuple(held), tuple(turns), (*passed, *absent, *left), used + spoken, memory_room)


def worded(artifact: Artifact) -> str:
    """An artifact as a mind reads it: what it says, and how it ended; the longer one is cut."""
    text, resolution = artifact.text, artifact.resolution
    if resolution is None:
        return clip(text, ARTIFACT_SIZE)
    arrow = "\n=> "
    sizes = [len(one.encode("utf-8", "surrogatepass")) for one in (text, resolution)]
    cap = _cap(sizes, ARTIFACT_SIZE - len(arrow))
    return f"{clip(text, cap)}{arrow}{clip(resolution, cap)}"


def is_over(artifact: Artifact, user_time: str) -> bool:
    """Whether an event has passed."""
    until = artifact.expires or artifact.when
    if artifact.type != "event" or until is None:
        return False
    # a day lasts to its end; both are the user's local time, so the offset does not count
    return (
        user_time[:10] > until if len(until) <= len("2026-05-02") else user_time[:16] > until[:16]
    )


# the artifacts


def _memory_room(config: Config, room: int) -> int:
    """How many tokens the artifacts may take.

    It depends on the settings, not on how long this message or these drafts are: else artifacts
    would come and go with them, and a provider's cache with what it holds. Only where the message
    is so long that the newest exchanges would have no room left, it is halved until they have.
    """
    shown = config.thought_display_count + config.draft_display_count
    most = config.thought_display_chars + config.draft_display_chars
    reserved = AROUND + FRAME * shown + tokens_in(most)
    usual = max((config.context_tokens - reserved) // 2, config.context_tokens // 4)
    full = min(config.memory_tokens, usual)
    return next((full // n for n in (1, 2, 4) if full // n <= room - LEAST), full // 8)


def _memory(shelf: Shelf, user_time: str, room: int) -> tuple[list[Held], list[LeftOut]]:
    ranked: list[tuple[tuple[int, ...], Artifact, str]] = []
    left: list[LeftOut] = []
    for artifact in shelf.artifacts:
        why = _unwanted(artifact, user_time)
        if why is not None:
            left.append(LeftOut(_named(artifact), why))
            continue
        rank, reason = _rank(artifact, shelf)
        ranked.append(((rank, -artifact.referenced, -artifact.id), artifact, reason))
    held = []
    for _, artifact, reason in sorted(ranked):
        text, tokens = _measured(artifact)
        if tokens <= room:
            held.append(Held(artifact, text, tokens, reason))
            room -= tokens
        else:
            left.append(LeftOut(_named(artifact), "there is no room left for it"))
    return sorted(held, key=lambda one: one.artifact.id), left


@lru_cache(maxsize=1024)
def _measured(artifact: Artifact) -> tuple[str, int]:
    text = worded(artifact)
    return text, estimate(artifact_lines(_seen(artifact, text)))


def _seen(one: Artifact, text: str) -> ArtifactSeen:
    status = one.status if one.status != "current" else None
    return ArtifactSeen(one.id, one.type, text, status, one.outcome, one.parent, one.when)


def _unwanted(artifact: Artifact, user_time: str) -> str | None:
    if artifact.excluded:
        return "it is excluded"
    if is_over(artifact, user_time):
        return "it is over"
    return None


def _rank(artifact: Artifact, shelf: Shelf) -> tuple[int, str]:
    if artifact.id in {shelf.effort, shelf.focus}:
        return 0, "the effort that is worked on"
    if artifact.is_open:
        return 1, "an open effort"
    ago = shelf.turn - artifact.referenced
    when = "spoken of now" if ago <= 0 else f"spoken of {ago} turn{'s' if ago != 1 else ''} ago"
    if artifact.type == "event":
        return 2, "an event to come" if artifact.when else f"an event, {when}"
    return 3, f"{'concluded' if artifact.type == 'effort' else f'a {artifact.type}'}, {when}"


def _named(artifact: Artifact) -> str:
    return f"{artifact.type} {artifact.id}"


# the exchanges


def _told_apart(session: Session) -> tuple[list[_Said], list[LeftOut]]:
    """The exchanges that are to be shown, and the others; oldest first."""
    shelf = session.shelf
    places = {place.exchange: place for place in shelf.threads}
    here = {artifact.id: artifact for artifact in shelf.artifacts}
    thread = None if shelf.focus is None else _thread(shelf.focus, shelf)
    eligible: list[tuple[Exchange, Place]] = []
    left: list[LeftOut] = []
    for exchange in session.dialogue.history:
        place = places.get(exchange.id) or Place(exchange.id)
        if exchange.pruned:
            left.append(LeftOut(exchange.id, "it was pruned", place.stands))
        elif exchange.answer is None:
            why = "its answer is too old to be in the state"
            left.append(LeftOut(exchange.id, why, place.stands))
        elif thread is not None and place.effort not in thread:
            why = "it is not of the effort that this session is about"
            left.append(LeftOut(exchange.id, why, place.stands))
        else:
            eligible.append((exchange, place))
    said: list[_Said] = []
    for number, (exchange, place) in enumerate(eligible, RECENT - len(eligible)):
        one = (
            _Said(exchange, f"one of the last {RECENT} exchanges", 0)
            if number >= 0
            else _wanted(exchange, place, here, shelf.focus)
        )
        if one is not None:
            said.append(one)
        else:
            left.append(LeftOut(exchange.id, _standing(place, here), place.stands))
    return said, left


def _thread(focus: int, shelf: Shelf) -> set[int]:
    """An effort with all that is part of it."""
    inside = {focus}
    while more := {a.id for a in shelf.artifacts if a.parent in inside} - inside:
        inside |= more
    return inside


def _wanted(
    exchange: Exchange, place: Place, here: dict[int, Artifact], focus: int | None
) -> _Said | None:
    """An exchange that is not among the newest, if it is shown all the same."""
    effort = here.get(place.effort) if place.effort is not None else None
    if effort is not None and effort.expanded:
        return _Said(exchange, f"effort {effort.id} is expanded", 1)
    if place.stands is None:
        is_open = effort is not None and effort.is_open
        why = f"effort {place.effort} is open" if is_open else "nothing stands for it yet"
        return _Said(exchange, why)
    if place.stands != place.effort:
        return None
    if effort is not None and effort.is_open:
        return _Said(exchange, f"effort {effort.id} is open again", 1)
    if place.effort == focus:
        return _Said(exchange, f"effort {focus} is what this session is about", 1)
    return None


def _standing(place: Place, here: dict[int, Artifact]) -> str:
    artifact = here.get(place.stands) if place.stands is not None else None
    if artifact is None:
        what = "effort" if place.stands == place.effort else "summary"
        return f"{what} {place.stands} stands for it, and has left the context"
    excluded = ", and is excluded" if artifact.excluded else ""
    return f"{_named(artifact)} stands for it{excluded}"


def _turns(said: Sequence[_Said], config: Config, room: int) -> tuple[list[Turn], list[LeftOut]]:
    fitting, left = _fitting(said, config, room)
    texts = [text for one in fitting for text in _texts(one.exchange)]
    most = _cap([len(text) for text in texts], config.history_display_chars)
    size = _cap([_size(text) for text in texts], characters(room - FRAME * len(texts)))
    turns = []
    for one in fitting:
        question, answer = (_cut(t, most, max(size, LEAST_TURN)) for t in _texts(one.exchange))
        whole = (question == one.exchange.question, answer == one.exchange.answer)
        turns.append(Turn(one.exchange, "user", question, whole[0], one.why))
        turns.append(Turn(one.exchange, "self", answer, whole[1], one.why))
    return turns, left


def _fitting(said: Sequence[_Said], config: Config, room: int) -> tuple[list[_Said], list[LeftOut]]:
    """Those of which at least the beginnings and ends can be shown; oldest first."""
    kept: set[int] = set()
    why: dict[int, str] = {}
    chars = tokens = 0
    for number in sorted(range(len(said)), key=lambda n: (said[n].rank, -n)):
        texts = _texts(said[number].exchange)
        more = chars + sum(min(len(text), LEAST_TURN) for text in texts)
        taken = tokens + sum(_tokens_of_turn(text, LEAST_TURN) for text in texts)
        if len(kept) >= config.history_display_count // 2:
            why[number] = "more exchanges than history_display_count shows"
        elif kept and more > config.history_display_chars:
            why[number] = "more characters than history_display_chars shows"
        elif said[number].rank and taken > room:
            why[number] = "there is no room left for it"
        else:
            kept.add(number)
            chars, tokens = more, taken
    left = [LeftOut(said[number].exchange.id, why[number]) for number in sorted(why)]
    return [said[number] for number in sorted(kept)], left


def _texts(exchange: Exchange) -> tuple[str, str]:
    return exchange.question, exchange.answer or ""


def _cut(text: str, chars: int, size: int) -> str:
    """A text of at most so many characters, which takes at most so many bytes in a prompt."""
    if len(text) <= chars and _size(text) <= size:
        return text
    wanted = min(chars, size)
    # short lines, each of them indented, and escapes take more room in a prompt than by themselves
    while (taken := _size(cut := clip(text, wanted))) > size and wanted > len(MARKER):
        wanted = max(min(wanted * size // taken, wanted - 1), len(MARKER))
    return cut


def _cap(lengths: Iterable[int], room: int) -> int:
    """The length to which the longest are cut, so that all fit into the room together."""
    left, room = sorted(lengths), max(room, 0)
    for number, length in enumerate(left):
        share = room // (len(left) - number)
        if length > share:
            return max(share, len(MARKER))
        room -= length
    return left[-1] if left else 0


def _tokens_of_turn(text: str, most: int | None = None) -> int:
    size = _size(text) if most is None else min(_size(text), most)
    return tokens_in(size) + FRAME


@lru_cache(maxsize=512)
def _size(text: str) -> int:
    """The size, as :mod:`domain.tokens` counts it, of the lines of a turn."""
    return weighed(scalar(text, " " * 8).body)
