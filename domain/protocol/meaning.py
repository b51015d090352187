"""From fields to an output: what each key means. Strict where form.py and its readers forgive."""

import re

from domain.protocol.fields import (
    LONGEST_DRAFT,
    LONGEST_THOUGHT,
    MOST_THOUGHTS,
    NOTHING,
    Reading,
    Value,
    known,
    shown,
)
from domain.protocol.output import Output, Unparseable

_YES = {"true", "yes", "on"}
_NO = {"false", "no", "off"}
_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE = re.compile("[\ud800-\udfff]")
_MOST_REPAIRS = 24


def understand(reading: Reading) -> Output | Unparseable:
    """Turn what was found into an output; repairs add to those of the reading."""
    return _Meaning(reading).output()


class _Meaning:
    """One reading on its way to an output, collecting repairs."""

    def __init__(self, reading: Reading) -> None:
        self.repairs = list(reading.repairs)
        self.lost = reading.lost
        self.values: dict[str, Value] = {}
        self.thoughts: list[str] = []
        foreign = []
        for key, value in reading.fields:
            name = known(key)
            if name is None:
                foreign.append(shown(key))
                continue
            if name != key:
                self.repairs.append(f"Read the key {shown(key)} as {name!r}.")
            if name == "thoughts":
                if self.thoughts and value != NOTHING:
                    self.repairs.append("Joined the thoughts of several 'thoughts'.")
                self._think(value)
            elif name in self.values and self.values[name] != NOTHING:
                self.repairs.append(f"Kept the last of several {name!r}.")
            if value != NOTHING or name not in self.values:
                self.values[name] = value
        if foreign:
            self.repairs.append(f"Left out keys that mean nothing here: {', '.join(foreign[:8])}.")

    def output(self) -> Output | Unparseable:
        draft = self._draft()
        thoughts = self._kept_thoughts()
        skip = self._flag("skip")
        confidence, working = self._confidence(), self._flag("working")
        if skip and (thoughts or draft):
            skip = False
            self.repairs.append("Took no notice of 'skip', since there is content.")
        if draft is None and (confidence is not None or working):
            confidence, working = None, False
            self.repairs.append("Left out what was said about a draft that is not there.")
        repairs = self._repairs()
        if self.lost and not (thoughts or draft or skip):
            return Unparseable(self.lost, repairs)
        return Output(thoughts, draft, skip, confidence, working, repairs)

    def _think(self, value: Value) -> None:
        if value.shape == "text":
            self.repairs.append("Took the one text under 'thoughts' as one thought.")
        if value.source is not None and value.shape == "structure":
            self.repairs.append("Took the lines under 'thoughts' as they stand for one thought.")
            self.thoughts.append(value.source)
        elif value.shape == "structure":
            self.repairs.append("Left out 'thoughts' that were neither a list nor a text.")
            self.lost = self.lost or "The thoughts are neither a list of texts nor a text."
        self.thoughts.extend(value.texts)

    def _kept_thoughts(self) -> tuple[str, ...]:
        thoughts = [self._tidy(text) for text in self.thoughts]
        kept = [text for text in thoughts if text]
        if len(kept) < len(thoughts):
            self.repairs.append(f"Left out {_count(len(thoughts) - len(kept), 'blank thought')}.")
        fitting = [text for text in kept if len(text) <= LONGEST_THOUGHT]
        if len(fitting) < len(kept):
            over = _count(len(kept) - len(fitting), "thought")
            self.repairs.append(f"Left out {over} of more than {LONGEST_THOUGHT} characters.")
            self.lost = self.lost or "The thoughts are longer than a thought can be."
        if len(fitting) > MOST_THOUGHTS:
            self.repairs.append(f"Kept the first {MOST_THOUGHTS} of {len(fitting)} thoughts.")
        return tuple(fitting[:MOST_THOUGHTS])

    def _draft(self) -> str | None:
        value, plural = self.values.get("draft", NOTHING), self.values.get("drafts", NOTHING)
        if value.shape == "nothing" and plural.shape != "nothing":
            value = self._last_of(plural)
        elif plural.shape != "nothing":
            self.repairs.append("Kept 'draft' and left out 'drafts'.")
        text = self._only_text(value)
        if text is None:
            return None
        if not (text := self._tidy(text)):
            self.repairs.append("Left out a blank draft.")
            return None
        if len(text) > LONGEST_DRAFT:
            self.repairs.append(f"Left out a draft of {len(text)} characters.")
            self.lost = self.lost or f"The draft has more than {LONGEST_DRAFT} characters."
            return None
        return text

    def _last_of(self, value: Value) -> Value:
        texts = [text for text in value.texts if text.strip()]
        if value.shape == "structure":
            return value
        if not texts:
            return NOTHING
        which = "the only" if len(texts) == 1 else "the last"
        self.repairs.append(f"Took {which} text under 'drafts' as the draft.")
        return Value("text", (texts[-1],))

    def _only_text(self, value: Value) -> str | None:
        match value:
            case Value(shape="nothing"):
                return None
            case Value(shape="text", texts=(text,)):
                return text
            case Value(shape="list", texts=()):
                return None
            case Value(source=str(source)):
                self.repairs.append("Took the lines under 'draft' as they stand for its text.")
                return source
            case Value(shape="list", texts=(text,)):
                self.repairs.append("Took the only text of the list under 'draft' as the draft.")
                return text
            case _:
                self.repairs.append("Left out a draft that is a structure, not a text.")
                self.lost = self.lost or "The draft is a structure, not a text."
                return None

    def _flag(self, name: str) -> bool:
        value = self.values.get(name, NOTHING)
        if value.shape == "nothing":
            return False
        word = value.texts[0].strip().lower() if value.shape == "text" else ""
        if word not in _YES | _NO:
            self.repairs.append(f"Left out a {name!r} that says neither true nor false.")
        return word in _YES

    def _confidence(self) -> float | None:
        value = self.values.get("confidence", NOTHING)
        if value.shape == "nothing":
            return None
        word = value.texts[0].strip() if value.shape == "text" else ""
        scale = 100 if word.endswith("%") else 1
        try:
            number = float(word.removesuffix("%")) / scale
        except ValueError:
            number = -1.0
        if not 0 <= number <= 1:
            self.repairs.append("Left out a 'confidence' that is no number from 0 to 1.")
            return None
        if scale != 1:
            self.repairs.append("Read the percentage of 'confidence' as a number from 0 to 1.")
        return number

    def _tidy(self, text: str) -> str:
        """Without blank lines around and blanks at the end, which YAML gives and takes freely."""
        text = _BLANK_LINES.sub("", text).rstrip()
        if _LONE.search(text):
            text = _PAIR.sub(
                lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text
            )
            text, broken = _LONE.subn("\ufffd", text)
            if broken:
                self.repairs.append(f"Replaced {_count(broken, 'half character')} by U+FFFD.")
        return text

    def _repairs(self) -> tuple[str, ...]:
        distinct = tuple(dict.fromkeys(self.repairs))
        if len(distinct) <= _MOST_REPAIRS:
            return distinct
        more = len(distinct) - _MOST_REPAIRS
        return (*distinct[:_MOST_REPAIRS], f"And {_count(more, 'repair')} more.")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
