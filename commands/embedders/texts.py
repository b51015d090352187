"""What is done to texts before a model reads them."""

from collections.abc import Iterable, Iterator

MOST_TEXTS = 64
MOST_CHARS = 100_000
"""The bounds of a batch; a longer text makes a batch of its own."""


def has_words(text: str) -> bool:
    """Whether there is anything to read: no model says anything sensible about nothing."""
    return any(sign.isprintable() and not sign.isspace() for sign in text)


def batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """Each different text once, in the order of first appearance, in batches for one request."""
    batch: list[str] = []
    chars = 0
    for text in dict.fromkeys(texts):
        if batch and (len(batch) == MOST_TEXTS or chars + len(text) > MOST_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(text)
        chars += len(text)
    if batch:
        yield batch


def readable(text: str, longest: int) -> str:
    """The first ``longest`` characters as text that can be encoded.

    Halves of a surrogate pair find each other; a lone one, which no encoding takes, becomes U+FFFD.
    """
    cut = text[:longest]
    return cut.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
