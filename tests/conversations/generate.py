"""Long conversations, made up: as people have them with a mind over weeks, the same for a seed.

Efforts begin, wander, have attempts that fail, are left and come back, and end in natural words
every 5 to 25 exchanges. In between there are facts (some superseded later), appointments, small
talk, and pasted logs and code.
"""

from random import Random
from typing import Literal, NamedTuple

from domain.tokens import estimate
from tests.conversations.pastes import paste
from tests.conversations.phrases import Effort, efforts, pairs, pool, words

What = Literal["open", "work", "attempt", "failed", "insight", "fact", "event", "talk", "end"]


class Exchange(NamedTuple):
    """A message and its answer, and what an attentive reader would note about them."""

    question: str
    answer: str
    what: What
    topic: str | None = None
    """What the effort that it belongs to is about (``the checkout service``); None for talk."""
    opens: str | None = None
    """The goal of the effort that begins here."""
    concludes: str | None = None
    """The goal of the effort that ends here."""
    resolution: str | None = None
    """How it ended; None where it was given up."""
    states: str | None = None
    """A fact that the user states."""
    supersedes: str | None = None
    """The fact that no longer holds since."""
    announces: str | None = None
    """An appointment that the user mentions."""

    @property
    def tokens(self) -> int:
        """Its length, by the estimate that contexts are counted with."""
        return estimate(self.question) + estimate(self.answer)


def conversation(seed: int, tokens: int) -> list[Exchange]:
    """A conversation of about so many tokens: at most one exchange more.

    Args:
        seed: another one is another conversation.
        tokens: by :func:`domain.tokens.estimate`, questions and answers together.
    """
    talk = _Talk(Random(f"conversation {seed}"))  # noqa: S311 — the same for ever
    made: list[Exchange] = []
    size = 0
    while size < tokens:
        made.append(talk.next())
        size += made[-1].tokens
    return made


class _Talk:
    """Where a conversation stands."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.waiting: list[Effort] = []
        self.open: list[Effort] = []
        """Efforts that go on; the last one is what is spoken of."""
        self.facts: dict[int, int] = {}
        self.gap = 0
        """Exchanges since the last conclusion."""
        self.length = self._length()
        self.stage: dict[Effort, int] = {}
        """How far each has come: 1 an attempt is under way, 2 it failed, 3 understood."""
        self.returns = False
        """Whether an effort has just ended, so that what comes next is another one."""

    def next(self) -> Exchange:
        """One more exchange."""
        chance = self.random.random()
        self.gap += 1
        if not self.open:
            self.returns = False
            return self._opened()
        if self.returns:
            self.returns = False
            return self._worked(self._said(pool("back")) + " ")
        if self.gap >= self.length and self.stage[self.open[-1]] != 1:
            return self._ended()
        if chance < 0.06:
            return self._talked()
        if chance < 0.10:
            return self._stated()
        if chance < 0.125:
            return self._announced()
        if chance < 0.17 and len(self.open) < 4 and self.gap < self.length - 3:
            return self._opened("Something else in between. ")
        if chance < 0.23 and len(self.open) > 1:
            self.open.insert(0, self.open.pop())
            return self._worked(self._said(pool("back")) + " ")
        return self._worked("")

    def _opened(self, lead: str = "") -> Exchange:
        if not self.waiting:
            self.waiting = [e for e in efforts() if e not in self.open]
            self.random.shuffle(self.waiting)
        effort = self.waiting.pop()
        self.open.append(effort)
        self.stage[effort] = 0
        question = lead + self._asked(pool("opening"))
        return Exchange(question, self._answer(), "open", effort["place"], opens=effort["goal"])

    def _worked(self, lead: str) -> Exchange:
        effort, chance = self.open[-1], self.random.random()
        stage = self.stage[effort]
        late = self.gap > self.length * 0.6
        if stage == 1:
            what, said = "failed", pool("failed")
        elif stage == 0 and chance < 0.3:
            what, said = "attempt", pool("attempt")
        elif stage == 2 and late and chance < 0.5:
            what, said = "insight", pool("insight")
        else:
            question = lead + self._asked(pool(f"working {effort['kind']}"))
            if self.random.random() < 0.09:
                question += "\n\n" + self._paste(effort)
            return Exchange(question, self._answer(), "work", effort["place"])
        self.stage[effort] = stage + 1
        return Exchange(lead + self._asked(said), self._answer(), what, effort["place"])  # type: ignore[arg-type]

    def _ended(self) -> Exchange:
        effort = self.open[-1]
        given_up = self.random.random() < 0.1
        question = self._said(pool("abandoned") if given_up else pool("conclusion"))
        answer = self._answer(2) if given_up else self._said(pool("confirmed"))
        self.open.pop()
        self.gap, self.length, self.returns = 0, self._length(), True
        return Exchange(
            question,
            answer,
            "end",
            effort["place"],
            concludes=effort["goal"],
            resolution=None if given_up else effort["end"],
        )

    def _talked(self) -> Exchange:
        question, answer = self.random.choice(pairs("small talk"))
        return Exchange(self._filled(question), self._filled(answer), "talk")

    def _stated(self) -> Exchange:
        which = self.random.randrange(len(pairs("facts")))
        fact, known = pairs("facts")[which]
        values = known.split(" | ")
        now = (self.facts.get(which, -1) + 1) % len(values)
        before = fact.format(values[self.facts[which]]) if which in self.facts else None
        self.facts[which] = now
        states = fact.format(values[now])
        lead = "By the way: " if before is None else "A correction, this has changed: "
        after = "." if before is None else f". What I told you earlier ({before}) no longer holds."
        answer = self.random.choice(pool("noted")).format(states)
        place = self.open[-1]["place"]
        question = f"{lead}{states}{after}"
        return Exchange(question, answer, "fact", place, states=states, supersedes=before)

    def _announced(self) -> Exchange:
        event = self._said(pool("appointments"))
        question = f"Please remember {event}. I can't do anything else then."
        return Exchange(question, f"I will: {event}.", "event", announces=event)

    def _answer(self, sentences: int | None = None) -> str:
        """An opening, a body of 150 to 300 words in paragraphs, perhaps code, a closing."""
        random, kind = self.random, self.open[-1]["kind"]
        count = sentences or random.randint(7, 14)
        bodies = (*pool(f"body {kind}"), *pool("common"))
        body = [self._filled(one) for one in random.sample(bodies, count)]
        cut = random.randint(2, max(2, len(body) - 2))
        parts = [self._said(pool("first")) + " " + " ".join(body[:cut])]
        if random.random() < 0.3:
            parts.append("\n".join(f"- {one}" for one in body[cut:]))
        else:
            parts.append(" ".join(body[cut:]))
        if kind == "debug" and not sentences and random.random() < 0.15:
            parts.insert(1, paste(random, random.randint(200, 900), technical=True))
        parts.append(self._said(pool("last")))
        return "\n\n".join(part for part in parts if part)

    def _paste(self, effort: Effort) -> str:
        length = self.random.randint(2_500, 8_000)
        return paste(self.random, length, technical=effort["kind"] in {"debug", "decide"})

    def _asked(self, sentences: tuple[str, ...]) -> str:
        """What the user says, mostly with something that they add."""
        more = self.random.choices((0, 1, 2), (3, 5, 2))[0]
        asides = [self._filled(one) for one in self.random.sample(pool("asides"), more)]
        return " ".join([self._said(sentences), *asides])

    def _said(self, sentences: tuple[str, ...]) -> str:
        return self._filled(self.random.choice(sentences))

    def _filled(self, sentence: str) -> str:
        random = self.random
        effort = self.open[-1] if self.open else efforts()[0]
        part, part2 = random.sample(words()[effort["kind"]], 2)
        chosen = {name: random.choice(some) for name, some in words().items()}
        return _sentence(
            sentence.format(
                **{**chosen, **effort},
                End=_sentence(effort["end"]),
                part=part,
                part2=part2,
                n=random.randint(3, 29),
                hour=random.randint(8, 18),
            )
        )

    def _length(self) -> int:
        """Exchanges until the next conclusion: 5 to 25, mostly about ten."""
        return max(5, min(25, round(self.random.lognormvariate(2.3, 0.45))))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
