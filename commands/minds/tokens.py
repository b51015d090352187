"""How many tokens a model itself makes of a text: for people to read, never for decisions.

What a context may hold is counted by :func:`domain.tokens.estimate`, which is the same for ever.
Nothing here asks the network: a tokenizer is in the model's own file, or in a package.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from commands.minds.gguf import NoTokenizer, tokenizer
from commands.minds.names import ModelName, check_name
from domain.errors import Refused
from domain.tokens import estimate

Counted = Callable[[Sequence[str]], list[int]]

# the longest that fits decides; what is unknown is never guessed
_ENCODINGS = (
    (re.compile(r"gpt-oss\b"), "o200k_harmony"),
    (re.compile(r"(ft:)?(gpt-5|gpt-4\.5|gpt-4\.1|gpt-4o|chatgpt-4o)\b"), "o200k_base"),
    (re.compile(r"o[134](-|$|:)"), "o200k_base"),
    (re.compile(r"(ft:)?(gpt-4|gpt-3\.5-turbo|gpt-3\.5)(-|$|:)"), "cl100k_base"),
)
"""Which published encoding the models of OpenAI have, by the beginning of their names."""


class Counter(NamedTuple):
    """What counts tokens."""

    name: str
    """What a person may be told: ``o200k_base``, the name of a model file, or ``estimate``."""
    exact: bool
    """Whether it is the tokenizer of that very model. The few tokens that a provider puts around
    each message are in no count."""
    counted: Counted
    """Counts many texts at once."""

    def count(self, text: str) -> int:
        """Count one."""
        return self.counted([text])[0]


ESTIMATE = Counter("estimate", exact=False, counted=lambda texts: [estimate(t) for t in texts])


def counter(model_name: str, env: Mapping[str, str]) -> Counter:
    """What counts the tokens of a mind; the estimate where its tokenizer can't be had here.

    It takes up to a second where a vocabulary has to be read, once per process.

    Args:
        model_name: of the mind, in one of the forms in :data:`commands.minds.names.FORMS`.
        env: the environment; says where local weights are.
    """
    try:
        parsed = check_name(model_name)
        if parsed.provider == "local":
            return _of_file(_file(model_name, env))
        encoding = encoding_of(parsed)
        return ESTIMATE if encoding is None else _of_encoding(encoding)
    except (Refused, NoTokenizer, ImportError):
        return ESTIMATE


def encoding_of(model: ModelName) -> str | None:
    """The published encoding of a hosted model; None where there is none or nobody can say.

    A server of one's own may call any model by any name, so its names say nothing.
    """
    name = model.model.lower()
    match model.provider:
        case "openai":
            pass
        case "openrouter" if name.startswith("openai/"):
            name = name.removeprefix("openai/")
        case "ollama" if name.startswith("gpt-oss"):
            pass
        case _:
            return None
    return next((encoding for form, encoding in _ENCODINGS if form.match(name)), None)


def _file(model_name: str, env: Mapping[str, str]) -> Path:
    from commands.minds.choose import make_mind  # noqa: PLC0415 - it imports every kind of mind
    from commands.minds.local import LocalMind  # noqa: PLC0415

    mind = make_mind(model_name, env=env)
    if not isinstance(mind, LocalMind):
        raise NoTokenizer("no model file")
    return mind.file


@lru_cache(maxsize=2)
def _of_file(file: Path) -> Counter:
    made = tokenizer(file)

    def counted(texts: Sequence[str]) -> list[int]:
        found = made.encode_batch(_sound(texts), add_special_tokens=False)
        return [len(encoding) for encoding in found]

    return Counter(file.stem, exact=True, counted=counted)


@lru_cache(maxsize=4)
def _of_encoding(encoding: str) -> Counter:
    import toktok  # noqa: PLC0415 - an extra

    def counted(texts: Sequence[str]) -> list[int]:
        counts: list[int] = toktok.batch_count(_sound(texts), encoding, threads=1)
        return counts

    try:
        counted(["a"])
    except KeyError as error:
        raise NoTokenizer(f"the package toktok-rs has no {encoding}") from error
    return Counter(encoding, exact=True, counted=counted)


def _sound(texts: Sequence[str]) -> list[str]:
    """The texts without halves of surrogate pairs, which no tokenizer takes."""
    return [text if text.isascii() else text.encode("utf-8", "replace").decode() for text in texts]
