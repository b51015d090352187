"""Measure everything: python -m tests.benchmarks [--quick] [--only PART] [--json FILE]."""

import argparse
import os
import random
import sys
import time
from pathlib import Path

PARTS = ("w1", "million", "analysis", "cli")


def main(arguments: list[str] | None = None) -> int:
    """Measure, print a table, and say with the exit code whether a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,000 iterations, no million")
    parser.add_argument("--only", choices=PARTS, action="append", help="a part; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there too")
    parser.add_argument("--runs", type=int, default=5, help="runs behind each median")
    parser.add_argument("--seed", type=int, default=1, help="of the order of all measurements")
    parser.add_argument("--events", type=int, default=1_000_000, help="events of the long session")
    parser.add_argument("--dir", type=Path, help="where stores are made and deleted; a real disk")
    parser.add_argument("--strict", action="store_true", help="exit 1 where a promise is broken")
    wanted = parser.parse_args(arguments)
    _published_rounding()

    from tests.benchmarks import coldstart, dialogue, million  # noqa: PLC0415 — numpy comes later
    from tests.benchmarks.figures import Report  # noqa: PLC0415

    report, dice, began = Report(), random.Random(wanted.seed), time.monotonic()  # noqa: S311
    parts = wanted.only or (["w1", "cli"] if wanted.quick else PARTS)
    if "w1" in parts:
        for n in (1000,) if wanted.quick else (1000, 5000):
            _say(f"W1 with {n:,} iterations …")
            dialogue.measure(n, report, wanted.dir, runs=wanted.runs, dice=dice)
        dialogue.flatness(report)
    if "million" in parts:
        _say(f"a session of {wanted.events:,} events …")
        million.measure(wanted.events, report, wanted.dir, runs=wanted.runs, dice=dice)
    if "analysis" in parts:
        from tests.benchmarks import analysis  # noqa: PLC0415 — needs an extra

        _say("asking the history …")
        n = 1000 if wanted.quick else 5000
        analysis.measure(wanted.events, n, report, wanted.dir, runs=wanted.runs, dice=dice)
    if "cli" in parts:
        _say("the command line …")
        coldstart.measure(report, wanted.dir, runs=max(9, wanted.runs), dice=dice)
    report.remarks.append(f"Took {time.monotonic() - began:.0f} s.")
    print(report.table())
    if wanted.json:
        report.save(wanted.json)
    if wanted.markdown:
        wanted.markdown.write_text(report.markdown(), encoding="utf-8")
    missed = [f for f in report.figures if f.verdict == "MISS"]
    _say(f"{len(missed)} of {sum(bool(f.verdict) for f in report.figures)} promises missed.")
    return 1 if missed and wanted.strict else 0


def _published_rounding() -> None:
    """Have numpy add up as on the machine that W1's published digests come from.

    W1 scales its vectors by a float32 sum whose last bit depends on the kernels that OpenBLAS
    picks for a processor. Where this can't be had, the reference fold alone is compared with.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command line has it
    try:
        able = "avx2" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        able = False
    if able:
        os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
