"""How well detectors read exchanges: python -m tests.benchmarks.detection [--markdown FILE].

Scores are of the labelled exchanges in tests/detection: one half the rules were tuned on, the
other was kept aside. Of ambient talk and false friends nothing is to be found, so that what counts
there is in how many of them nothing wrong was found (``exact``).
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from domain.detection.findings import Detect
from domain.detection.rules import detect as rules
from tests.detection.score import (
    CATEGORIES,
    HALVES,
    LATER,
    TYPES,
    Count,
    Item,
    Score,
    items,
    score,
)

DETECTORS: dict[str, Detect] = {"rules": rules}


def table(name: str, half: str, result: Score) -> Iterator[str]:
    """The scores of a detector on a half, as a table of Markdown."""
    exchanges = sum(map(len, result.exact.values()))
    yield f"### {name}, {half.replace('_', '-')} half: {exchanges} exchanges"
    yield ""
    yield "| | precision | recall | F1 | found | wrong | missed | exact |"
    yield "|---|---|---|---|---|---|---|---|"
    for type_ in TYPES:
        yield _row(type_, result.by_type[type_])
    for category in CATEGORIES:
        yield _row(f"*{category}*", result.by_category[category], result.exact[category])
    every = [right for rights in result.exact.values() for right in rights]
    yield _row("**all**", result.total, every)
    yield ""


def apart(detect: Detect, of: list[Item]) -> Iterator[str]:
    """The scores of what is said plainly and of what is said the way round, where there is both."""
    plain = [item for item in of if not item.id.startswith(LATER)]
    later = [item for item in of if item.id.startswith(LATER)]
    if not later:
        return
    for what, some in (("said plainly", plain), ("said the way round", later)):
        total = score(detect, some).total
        yield (
            f"{len(some)} exchanges {what}: precision {total.precision:.2f}, "
            f"recall {total.recall:.2f}, F1 {total.f1:.2f}."
        )
    yield ""


def _row(name: str, count: Count, exact: list[bool] | None = None) -> str:
    right = f"{sum(exact)}/{len(exact)}" if exact is not None else ""
    scores = f"{count.precision:.2f} | {count.recall:.2f} | {count.f1:.2f}"
    if not count.right + count.wrong + count.missed:
        scores = "— | — | —"
    return f"| {name} | {scores} | {count.right} | {count.wrong} | {count.missed} | {right} |"


def main(argv: list[str] | None = None) -> None:
    """Score every detector on both halves and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", type=Path, help="also write the tables to this file")
    wanted = parser.parse_args(argv)
    lines: list[str] = []
    for name, one in DETECTORS.items():
        for half in HALVES:
            of = items(half)
            began = time.perf_counter()
            result = score(one, of)
            each = (time.perf_counter() - began) / len(of)
            lines += [*table(name, half, result), f"{each * 1000:.1f} ms an exchange.", ""]
            lines += apart(one, of)
    sys.stdout.write("\n".join(lines))
    if wanted.markdown:
        wanted.markdown.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
