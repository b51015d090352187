"""Sentences that name what there is, in the right number."""

from collections.abc import Sequence


def count(number: int, noun: str, nouns: str | None = None) -> str:
    """``3 drafts``; where an s is not enough, of which ``nouns`` says the plural."""
    return f"{number} {noun if number == 1 else nouns or f'{noun}s'}"


def cost(usd: float, unknown: int) -> str:
    """``$0.0123 and 3 calls of unknown cost``."""
    return f"${usd:.4f}" + (f" and {count(unknown, 'call')} of unknown cost" if unknown else "")


def there_are(names: Sequence[str], more: int = 0) -> str:
    """``there is main``, ``there are main, tides and 3 more``."""
    others = f" and {more} more" if more else ""
    return f"there {'are' if len(names) + more > 1 else 'is'} {', '.join(names)}{others}"


def the_nearest(names: Sequence[str]) -> str:
    """``the nearest is draft:1``, ``the nearest are draft:1, draft:2``."""
    return f"the nearest {'are' if len(names) > 1 else 'is'} {', '.join(names)}"
