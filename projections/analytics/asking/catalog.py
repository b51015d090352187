"""What can be asked: tables and views with what they mean, their columns, questions to begin with.

All of it stands in the database itself, in comments, for whoever opens it with another tool; the
queries here only gather it.
"""

from importlib.resources import files
from typing import NamedTuple

from domain.errors import BadQuery
from domain.nearest import nearest
from projections.analytics.asking.sandbox import Sandbox
from projections.analytics.schema.branches import ABOUT, LIKE
from projections.analytics.schema.describe import quoted

_NAMED = """
  SELECT table_name AS name, 'table' AS kind, comment AS about FROM duckdb_tables()
  WHERE NOT internal AND schema_name = 'main'
  UNION ALL
  SELECT view_name, 'view', comment FROM duckdb_views()
  WHERE NOT internal AND schema_name = 'main'
  UNION ALL
  SELECT function_name, 'branch view', comment FROM duckdb_functions()
  WHERE NOT internal AND schema_name = 'main' AND function_type = 'table_macro'
"""


class Example(NamedTuple):
    """A question and how it is asked."""

    question: str
    sql: str


def tables_query(sandbox: Sandbox) -> str:
    """A query that gives what can be asked: name, kind, rows and a sentence.

    Raises:
        Broken, QueryStopped: the database can't be read, or not in time.
    """
    rows = sandbox.ask(f"SELECT name FROM ({_NAMED}) WHERE kind <> 'branch view'").rows  # noqa: S608 — our own
    counts = " UNION ALL ".join(
        f"SELECT {quoted(name)} AS name, count(*) AS rows FROM {name}"  # noqa: S608 — our own names
        for (name,) in rows
    )
    return (
        f"SELECT name, kind, rows, about FROM ({_NAMED}) LEFT JOIN ({counts}) USING (name)"  # noqa: S608 — as above
        " ORDER BY kind = 'branch view', name"
    )


def columns_query(sandbox: Sandbox, table: str) -> str:
    """A query that gives the columns of a table or view: name, type and meaning, in their order.

    For a branch view, its parameters come first.

    Raises:
        BadQuery: there is none of that name; those that may have been meant are named.
        Broken, QueryStopped: as above.
    """
    kinds = {name: kind for name, kind in sandbox.ask(f"SELECT name, kind FROM ({_NAMED})").rows}  # noqa: C416, S608 — rows are tuples of any; our own
    wanted = table.strip().strip('"').partition("(")[0].casefold()
    if wanted not in kinds:
        raise BadQuery(
            f"There is no table {table!r}: there are {', '.join(nearest(wanted, sorted(kinds)))}"
            " and more (mind query --tables lists them)."
        )
    if kinds[wanted] != "branch view":
        return (
            "SELECT column_name AS name, data_type AS type, comment AS about FROM duckdb_columns()"  # noqa: S608 — a name that is there
            f" WHERE schema_name = 'main' AND table_name = {quoted(wanted)} ORDER BY column_index"
        )
    return _branch_view(sandbox, wanted)


def examples() -> list[Example]:
    """Questions that are worth asking of any store, with ``$session`` where they are about one."""
    text = files("projections.analytics.asking").joinpath("examples.sql").read_text("utf-8")
    found = []
    for part in text.split("\n\n"):
        question, _, sql = part.strip().partition("\n")
        if sql:
            found.append(Example(question.removeprefix("-- "), sql.removesuffix(";")))
    return found


def _branch_view(sandbox: Sandbox, name: str) -> str:
    """Its columns have no comments: they mean what they do in the view that it is a part of."""
    like = LIKE.get(name, name.removesuffix("_of"))
    rows = sandbox.ask(
        "SELECT column_name, comment FROM duckdb_columns()"  # noqa: S608 — a name that is there
        f" WHERE schema_name = 'main' AND table_name = {quoted(like)}"
    ).rows
    about = {**dict(rows), **ABOUT.get(name, {})}
    lines = [
        ("first argument", "VARCHAR", "the session or branch"),
        ("at_version := …", "BIGINT", "as it was at this version; NULL is now"),
        ("at_time := …", "TIMESTAMP", "as it was at this time, UTC; NULL is now"),
    ][: 1 if name == "path_of" else None]
    described = sandbox.ask(f"DESCRIBE FROM {name}('')").rows  # our own name
    lines += [(column, type_, about.get(column, "")) for column, type_, *_ in described]
    values = ", ".join(
        f"({number}, {', '.join(quoted(text) for text in line)})"
        for number, line in enumerate(lines)
    )
    return (
        f"SELECT name, type, about FROM (VALUES {values}) t(number, name, type, about)"  # noqa: S608 — our own texts
        " ORDER BY number"
    )
