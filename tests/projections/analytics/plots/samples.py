"""Charts as reports make them, and as nobody would on purpose."""

from datetime import UTC, datetime, timedelta

from projections.analytics.plots.charts import Chart, Kind, Series, Table

KINDS: tuple[Kind, ...] = ("line", "bars", "stacked", "scatter")
START = datetime(2026, 10, 20, tzinfo=UTC)
NAN = float("nan")

HOSTILE = (
    "<script>alert(1)</script>",
    "$x^2$ and $\\frac{",
    "]]> --> <!--",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "a\x00b\x08c\x7fd\x9b31me\ufffe\ud800",
    "</title></style></svg>",
    "'\"><img src=x onerror=alert(1)>&amp;",
    "long " * 2000,
    "漢字のモデル",
    "👩‍👩‍👧‍👦🏳️‍🌈❤️🙂",
    "שלום\u202egnp.exe\u2066",
    "e\u0301\u0301\u0301 ทั้งหมด",
    "_hidden",
    "two\nlines\r\n\tand\u2028more",
    "",
    "   ",
)


def chart(kind: Kind, *series: Series) -> Chart:
    """A chart of a kind."""
    return Chart("Drafts", kind, "exchange", "drafts", series)


def days(count: int) -> tuple[datetime, ...]:
    """So many days in a row."""
    return tuple(START + timedelta(days=n) for n in range(count))


def usual() -> list[Chart]:
    """What reports draw."""
    rising = tuple(float(n % 7) for n in range(30))
    models = ("gpt-mini", "haiku", "local")
    return [
        chart("line", Series("drafts", tuple(range(30)), rising)),
        chart(
            "line",
            *(Series(m, days(30), tuple(n * y for y in rising)) for n, m in enumerate(models)),
        ),
        chart(
            "bars", Series("in", models, (120_345, 88_123, 3)), Series("out", models, (9, None, 0))
        ),
        chart("bars", Series("minutes", days(30), tuple(y - 3 for y in rising))),
        chart("stacked", *(Series(m, days(30), rising) for m in models)),
        chart("stacked", *(Series(m, ("watching", "away"), (3, n)) for n, m in enumerate(models))),
        chart("scatter", *(Series(m, tuple(range(30)), rising) for m in models)),
    ]


def edges() -> list[Chart]:
    """Little, much, nothing, the same again, and holes."""
    found = []
    for kind in KINDS:
        found += [
            chart(kind),
            chart(kind, Series("a", (), ())),
            chart(kind, Series("a", (1, 2), (None, NAN))),
            chart(kind, Series("one", (3,), (7,))),
            chart(kind, Series("one", (START,), (0,))),
            chart(kind, Series("one", ("main",), (-0.0001,))),
            chart(kind, Series("same", tuple(range(9)), (5,) * 9)),
            chart(kind, Series("zero", ("a", "b"), (0, 0))),
            chart(kind, Series("gaps", tuple(range(7)), (1, None, 2, NAN, 3, 4, None))),
            chart(kind, Series("signs", days(9), (1e15, -1e15, 0, None, 5, -5, 1, 2, 3))),
            chart(kind, Series("tiny", (1e-12, 2e-12), (1e-12, -1e-12))),
            chart(kind, Series("endless", (1, 2, float("inf")), (float("inf"), 3, 4))),
            chart(kind, Series("short", (START, START + timedelta(milliseconds=30)), (1, 2))),
            chart(
                kind,
                Series(
                    "years",
                    (datetime(1971, 5, 1, tzinfo=UTC), datetime(2400, 1, 1, tzinfo=UTC)),
                    (1, 2),
                ),
            ),
            chart(
                kind,
                Series(
                    "ages",
                    (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)),
                    (1, 2),
                ),
            ),
            chart(kind, Series("mixed", (1, "one", None, START), (1, 2, 3, 4))),
            chart(kind, Series("many", tuple(range(5000)), tuple(n % 97 for n in range(5000)))),
            chart(kind, Series("names", tuple(f"n{n}" for n in range(900)), tuple(range(900)))),
            chart(kind, *(Series(f"s{n}", (1, 2, 3), (n, 2 * n, n)) for n in range(40))),
        ]
    return found


def hostile() -> list[Chart]:
    """Texts that want to be more than texts, wherever a text can stand."""
    found = []
    for kind in KINDS:
        found += [
            Chart(
                t,
                kind,
                t,
                t,
                (Series(t, HOSTILE, tuple(range(len(HOSTILE)))), Series(t, (t,), (1,))),
            )
            for t in HOSTILE
        ]
        found.append(
            Chart("all", kind, "x", "y", tuple(Series(t, (1, 2), (1, 2)) for t in HOSTILE))
        )
    return found


def hostile_table() -> Table:
    """The same texts as a title, as columns and as cells."""
    return Table(HOSTILE[0], HOSTILE, (HOSTILE, tuple(reversed(HOSTILE))))
