"""Receipts for people: one fact a line, what belongs together below each other."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cli import output as out
from projections.receipts import EVENTS_LOOKED_AT

if TYPE_CHECKING:
    from projections.causes import Picked, Told
    from projections.founding import Founding, Turned
    from projections.invocations import Invocation, Message, Shown
    from projections.lineage import Origin
    from projections.receipts import DraftFacts, Receipt

_LABEL = 13
"""Columns for what a line is about."""

_HASH = 12
"""Hexadecimal digits of a hash; all of them are in the JSON."""

Facts = Iterator[tuple[str, str]]
"""What a line is about, and what it says."""


class Look(NamedTuple):
    """How closely somebody looks."""

    most: int | None
    """Entries of each list; None for all."""
    full: bool
    """Texts are not shortened."""

    @property
    def lines(self) -> int | None:
        """Of what is explained."""
        return None if self.full else 4


def tell(receipt: "Receipt", look: Look) -> None:
    """Print a receipt."""
    if receipt.cluster is not None:
        _cluster(receipt.cluster, look)
    elif receipt.draft is not None:
        _draft(receipt, receipt.draft, look)
    elif receipt.thought is not None:
        _thought(receipt, receipt.thought, look)
    elif receipt.invocation is not None:
        _iteration(receipt, receipt.invocation, look)
    else:
        _event(receipt, look)
    if receipt.thought is None:  # whose line is told instead
        _causes(receipt, look)


# what can be explained


def _draft(receipt: "Receipt", draft: "DraftFacts", look: Look) -> None:
    kind = "signal" if draft.signal else "draft"
    marks = [
        f"iteration {draft.iteration}",
        *(["accepted"] if draft.accepted else []),
        *(["late"] if draft.late else []),
        *(["still working"] if draft.working else []),
    ]
    _head(f"{kind} {draft.index} of {draft.exchange}", receipt.event, marks)
    out.answer(out.block(draft.text, lines=look.lines))
    _facts(
        (
            *_redaction(receipt),
            *_message("answers", draft.message),
            *_invocation(receipt.invocation),
            *_of_the_text(draft),
            *_reception(draft),
        ),
        look,
    )
    if receipt.invocation is not None:
        _shown(receipt.invocation.shown, look)
    _interventions(draft, look)


def _thought(receipt: "Receipt", thought: "Origin", look: Look) -> None:
    _origin(thought, receipt.event, look)
    _facts(
        (
            *_redaction(receipt),
            *_message("answering", thought.message),
            *_invocation(receipt.invocation, short=True),
            *_source(thought.source),
            *_audience(thought, look),
        ),
        look,
    )
    _ancestors(thought, look)
    for earlier in receipt.line:
        out.answer()
        _origin(earlier, None, look)
        _ancestors(earlier, look)


def _origin(thought: "Origin", event: "Told | None", look: Look) -> None:
    by = f": {thought.mind}" if event is None else ""
    marks = [f"iteration {thought.iteration}", f"{thought.origin}{by}"]
    if thought.cluster is not None:
        marks.append(f"cluster {thought.cluster}")
    if not thought.active:
        marks.append("beyond the pool")
    _head(f"thought {thought.version}", event, marks)
    out.answer(out.block(thought.text, lines=look.lines))


def _ancestors(thought: "Origin", look: Look) -> None:
    if thought.ancestors:
        _shown(thought.ancestors, look, near=True)
    elif thought.source is None:
        _title("It came from no other thought.")


def _cluster(cluster: "Founding", look: Look) -> None:
    standing = cluster.standing
    marks = ["the model of its vectors is no longer in use"]
    if standing is not None:
        marks = [f"{standing.active} in the pool", f"{standing.size} in all"]
        marks.append(f"alike {standing.coherence:.2f}")
    _head(f"cluster {cluster.id}", None, marks)
    if cluster.id != cluster.asked_for:
        out.answer(f"  Cluster {cluster.asked_for} has become part of cluster {cluster.id}.")
    for turning in cluster.turnings:
        event = turning.event
        _rows([(f"{event.version:>6}", event.kind, event.summary)], look)
        _facts(_decision(turning), look)
    if cluster.members:
        newest = "newest " if standing and standing.size > len(cluster.members) else ""
        _title(f"{newest}{out.count(len(cluster.members), 'thought')}, to its middle:")
    for member in cluster.members:
        where = "" if member.active else ", beyond the pool"
        told = f"  iteration {member.iteration}, {member.origin}{where}"
        out.answer(f"  {member.version:>6}  {member.similarity:5.2f}" + out.shade(told, "faint"))
        out.answer(out.block(member.text, indent=" " * 10, lines=look.lines))


def _iteration(receipt: "Receipt", invoked: "Invocation", look: Look) -> None:
    _head(f"iteration {invoked.iteration}", receipt.event, [invoked.outcome])
    facts = (
        *_redaction(receipt),
        *_message("answering", invoked.message),
        *_invocation(invoked),
    )
    _facts(facts, look)
    _shown(invoked.shown, look)
    _events("brought:", receipt.wish, look)
    _effects(receipt, look)


def _event(receipt: "Receipt", look: Look) -> None:
    event, asked = receipt.event, receipt.message
    _head(event.kind, event, [asked.exchange] if asked is not None else [])
    text = asked.text if asked is not None else event.summary
    if text:
        out.answer(out.block(text, lines=look.lines))
    _facts(_redaction(receipt), look)
    if asked is not None:
        answer = receipt.answer
        told = f"{answer.summary}, {_who(answer)}" if answer else "not yet"
        _facts((*_source(asked.source), ("answered", told)), look)
    _events("of the same wish:", receipt.wish, look)
    _effects(receipt, look)


# the facts of these


def _who(event: "Told") -> str:
    return f"{event.actor}, {out.when(event.at)}, event {event.version}"


def _redaction(receipt: "Receipt") -> Facts:
    if receipt.redaction is not None:
        yield "redacted by", _who(receipt.redaction)
        yield "", receipt.redaction.summary
    elif receipt.event.redacted:
        yield "redacted", "yes"


def _message(label: str, message: "Message | None") -> Facts:
    if message is not None:
        yield label, message.text
        yield "", f"{message.actor}, {out.when(message.at)}, event {message.version}"


def _invocation(invoked: "Invocation | None", *, short: bool = False) -> Facts:
    if invoked is None:
        return
    answered = invoked.answered_by
    named = f", answered by {answered}" if answered and answered != invoked.model else ""
    yield "mind", f"{invoked.model}{named}, iteration {invoked.iteration}"
    prompt, system = invoked.prompt_hash.hex()[:_HASH], invoked.system_hash.hex()[:_HASH]
    yield "prompt", f"{prompt}, protocol {invoked.protocol} ({invoked.dialect}), system {system}"
    if not short:
        run = f", run in {invoked.mode} mode" if invoked.mode else ""
        yield "based on", f"event {invoked.based_on}, seed {invoked.seed}{run}"
        status = f", “{invoked.status}”" if invoked.status else ""
        yield "presence", f"{invoked.presence}{status}, at {invoked.user_time}"
    attempts = out.count(invoked.attempts, "attempt")
    yield "outcome", f"{invoked.outcome}, {invoked.latency_ms / 1000:.1f} s, {attempts}"
    if invoked.error:
        yield "error", invoked.error
    for repair in invoked.repairs:
        yield "repair", repair
    yield "cost", _cost(invoked)


def _cost(invoked: "Invocation") -> str:
    counts = [("?" if n is None else str(n)) for n in (invoked.tokens_in, invoked.tokens_out)]
    parts = [f"{' → '.join(counts)} tokens"] if counts != ["?", "?"] else []
    parts.append("unknown" if invoked.cost_usd is None else f"${invoked.cost_usd:.4f}")
    if invoked.embedding_tokens is not None:
        parts.append(f"{out.count(invoked.embedding_tokens, 'token')} embedded")
    if invoked.embedding_cost_usd:
        parts.append(f"${invoked.embedding_cost_usd:.4f}")
    return ", ".join(parts)


def _of_the_text(draft: "DraftFacts") -> Facts:
    if draft.repeats is not None:
        same = draft.repeats
        said = f"#{same.index} (event {same.version}, iteration {same.iteration})"
        if same.first != same.index:
            said += f", first said as #{same.first} (event {same.first_version},"
            said += f" iteration {same.first_iteration})"
        yield "repeats", said
    if draft.confidence is not None:
        yield "confidence", f"{draft.confidence:g}"
    yield from _source(draft.source)


def _reception(draft: "DraftFacts") -> Facts:
    for seen in draft.seen:
        yield "seen by", _who(seen)
    if not draft.seen:
        yield "seen by", "nobody"
    if draft.accepted is not None:
        yield "accepted by", _who(draft.accepted)
    elif draft.closed is not None:
        yield "not taken", f"{draft.closed.summary} was accepted by {_who(draft.closed)}"


def _source(source: "Picked | None") -> Facts:
    if source is not None:
        gone = "" if source.here else ", which is not in this store"
        told = f"{source.session}@{source.version} ({source.hash.hex()[:_HASH]}){gone}"
        yield "picked from", told


def _audience(thought: "Origin", look: Look) -> Facts:
    seen = thought.audience
    if seen.looked_at:
        some = [str(iteration) for iteration in seen.iterations[: look.most]]
        some += ["…"] if len(some) < len(seen.iterations) else []
        told = f"{len(seen.iterations)} of the next {out.count(seen.looked_at, 'iteration')}"
        yield "shown to", told + (f": {', '.join(some)}" if some else "")


def _decision(turning: "Turned") -> Facts:
    parts = [out.when(turning.event.at)]
    parts += [f"by {turning.how}"] if turning.how else []
    parts += [f"iteration {turning.iteration}"] if turning.iteration else []
    yield "", ", ".join(parts)
    if turning.because is not None:
        yield "", f"with thought {turning.because.version}: {turning.because.summary}"


# their lists


def _shown(shown: "Sequence[Shown]", look: Look, *, near: bool = False) -> None:
    _title(f"shown {out.count(len(shown), 'thought')}{':' if shown else ''}")
    rows = []
    for thought in shown[: look.most]:
        value = "    –" if thought.similarity is None else f"{thought.similarity:5.2f}"
        marks = [f"iteration {thought.iteration}"]
        marks += [f"cluster {thought.cluster}"] if thought.cluster is not None else []
        if thought.recalled_by is not None:
            marks.append(f"recalled by {thought.recalled_by} (chance {thought.chance or 0:.2f})")
        marks += [f"{thought.origin}: {thought.mind}"] if thought.origin != "mind" else []
        head = (f"{thought.version:>6}", value) if near else (f"{thought.version:>6}",)
        rows.append((*head, out.one_line(", ".join(marks), 48), thought.text))
    _rows(rows, look)
    _more(len(shown), look)


def _interventions(draft: "DraftFacts", look: Look) -> None:
    acts = draft.interventions
    if not acts:
        return
    asked = draft.message.version if draft.message is not None else draft.interventions_after
    after = draft.interventions_after
    _title(f"after event {after}:" if after > asked else "between the message and it:")
    rows = (
        (
            f"{act.event.version:>6}",
            act.event.actor,
            act.event.kind,
            act.event.summary + ("" if act.shown else " (while the mind was at work)"),
        )
        for act in acts[-(look.most or len(acts)) :]
    )
    _rows(rows, look)
    _more(len(acts), look, "earlier")


def _causes(receipt: "Receipt", look: Look) -> None:
    if receipt.causes:
        _title("back along what led to it:")
    rows, stream = [], receipt.event.session
    for way, event in receipt.causes:
        where = "" if event.session == stream else f"{event.session}: "
        rows.append((f"{event.version:>6}", way, event.kind, where + event.summary))
        stream = event.session
    _rows(rows, look)


def _effects(receipt: "Receipt", look: Look) -> None:
    effects = receipt.effects
    same = {(other.session, other.version) for other in receipt.wish}
    led_to = [other for other in effects.events if (other.session, other.version) not in same]
    far = effects.upto - receipt.event.version >= EVENTS_LOOKED_AT
    _events(f"led to, up to event {effects.upto}:" if far else "led to:", led_to, look)
    if effects.invocation is not None:
        first = effects.invocation
        _facts([("next mind", f"event {first.version}: {first.summary}")], look)


def _events(title: str, events: "Sequence[Told]", look: Look) -> None:
    if events:
        _title(title)
    shown = events[: look.most]
    _rows(((f"{event.version:>6}", event.kind, event.summary) for event in shown), look)
    _more(len(events), look)


# how a line looks


def _head(name: str, event: "Told | None", marks: Sequence[str]) -> None:
    told = list(marks)
    if event is not None:
        told += [f"event {event.version} of {event.session}", out.when(event.at), event.actor]
    line = out.shade(name, "strong") + out.shade(f"  {out.safe(', '.join(told))}", "faint")
    out.answer(out.wrapped(line))


def _title(text: str) -> None:
    out.answer(out.shade(f"  {text}", "faint"))


def _facts(facts: Iterable[tuple[str, str]], look: Look) -> None:
    for label, text in facts:
        _line(f"  {label:<{_LABEL - 2}}", text, look)


def _rows(rows: Iterable[Sequence[str]], look: Look) -> None:
    """Entries of a list, each column but the last as wide as what stands in it."""
    found = [([out.safe(cell) for cell in cells], text) for *cells, text in rows]
    widths = [max(map(len, column)) for column in zip(*(cells for cells, _ in found), strict=True)]
    for cells, text in found:
        sized = zip(cells, widths, strict=True)
        _line("".join(f"  {cell:<{size}}" for cell, size in sized), text, look)


def _line(head: str, text: str, look: Look) -> None:
    """A text behind its head: cut to fit, or in full, below each other."""
    room = max(out.width() - len(head) - 2, 20)
    told = out.one_line(text, room)
    if not look.full or (told == text and "…" not in told):
        out.answer(f"{out.shade(head, 'faint')}  {told}")
    elif room < 40:
        out.answer(out.shade(head.rstrip(), "faint"))
        out.answer(out.block(text, indent=" " * 10))
    else:
        whole = out.block(text, indent=" " * (len(head) + 2))
        out.answer(out.shade(head, "faint") + whole[len(head) :])


def _more(total: int, look: Look, which: str = "more") -> None:
    if look.most is not None and total > look.most:
        _title(f"        {total - look.most} {which}: -n 0")
