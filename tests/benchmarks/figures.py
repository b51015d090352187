"""What was measured, beside what was promised and what the floor needs."""

import json
import os
import platform
import sqlite3
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

HEADER = ("figure", "unit", "value", "floor", "× floor", "target", "")


@dataclass(frozen=True)
class Figure:
    """One number, its unit, and what it is held against."""

    section: str
    name: str
    value: float
    unit: str = "ms"
    floor: float | None = None
    target: float | None = None
    """The most that the design allows; None where it promises nothing."""
    runs: int = 1
    ratio: float | None = None
    """The value in floors: the median over runs where they were paired."""

    @property
    def verdict(self) -> str:
        """PASS, MISS, or nothing where nothing was promised."""
        if self.target is None:
            return ""
        return "PASS" if self.value <= self.target else "MISS"

    @property
    def floors(self) -> float | None:
        """How many times the floor."""
        if self.ratio is not None or not self.floor:
            return self.ratio
        return self.value / self.floor


@dataclass
class Report:
    """All figures of a run, in the order they were taken."""

    figures: list[Figure] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def table(self) -> str:
        """The figures as aligned text, one block per section."""
        lines: list[str] = []
        for section in dict.fromkeys(f.section for f in self.figures):
            rows = [_row(f) for f in self.figures if f.section == section]
            widths = [max(len(row[i]) for row in (HEADER, *rows)) for i in range(len(HEADER))]
            lines += [section, "─" * len(section)]
            for row in (HEADER, *rows):
                lines.append(_aligned(row, widths))
            lines.append("")
        lines += [f"· {remark}" for remark in self.remarks]
        return "\n".join(lines)

    def markdown(self) -> str:
        """The figures as Markdown tables."""
        lines: list[str] = []
        for section in dict.fromkeys(f.section for f in self.figures):
            lines += [f"### {section}", "", f"| {' | '.join(HEADER)} |", "|---|---|" + "---:|" * 5]
            lines += [f"| {' | '.join(_row(f))} |" for f in self.figures if f.section == section]
            lines.append("")
        return "\n".join(lines)

    def save(self, path: Path) -> None:
        """Write everything as JSON."""
        told = {
            "machine": machine(),
            "figures": [
                {**asdict(f), "ratio": f.floors, "verdict": f.verdict} for f in self.figures
            ],
            "remarks": self.remarks,
        }
        path.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def machine() -> dict[str, str | int | None]:
    """Where this runs, in general words."""
    return {
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "sqlite": sqlite3.sqlite_version,
        "system": platform.system(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
    }


def _row(figure: Figure) -> tuple[str, ...]:
    return (
        figure.name,
        figure.unit,
        _number(figure.value),
        _number(figure.floor),
        _number(figure.floors),
        f"≤ {_number(figure.target)}" if figure.target is not None else "",
        figure.verdict,
    )


def _number(value: float | None) -> str:
    if value is None:
        return ""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def _aligned(row: tuple[str, ...], widths: list[int]) -> str:
    cells = (
        text.ljust(width) if i in {0, 1, 6} else text.rjust(width)
        for i, (text, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join(cells).rstrip()
