"""What a role of a team needs on a server: what docs/scale.md has its owner grant, and no more."""

import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import TIDES, Mind
from tests.postgres.servers import Server

DOCS = Path(__file__).parents[2] / "docs" / "scale.md"


@pytest.fixture
def mind(within: Mind) -> Mind:
    """All of this without a process."""
    return within


def granted(role: str) -> list[str]:
    """The statements of the documentation, for a role."""
    (block,) = (
        block.partition("```")[0]
        for block in DOCS.read_text("utf-8").split("```sql\n")[1:]
        if "GRANT USAGE" in block.partition("```")[0]
    )
    return [s.replace("team", role) for s in block.split(";") if s.strip()]


@pytest.fixture
def member(pg_url: str, postgres: Server) -> Iterator[str]:
    """A role without any right on the database of ``pg_url``."""
    role = f"member_{os.getpid()}"
    postgres.admin(f"CREATE ROLE {role} LOGIN")
    yield role
    postgres.admin(f"DROP OWNED BY {role}", database=pg_url.rpartition("/")[2])
    postgres.admin(f"DROP ROLE {role}")


def test_what_is_documented_is_enough(
    mind: Mind, pg_url: str, postgres: Server, member: str, tmp_path: Path
) -> None:
    """To talk, branch, redact and keep views; also after views were made anew."""
    script = tmp_path / "tides.txt"
    script.write_text(TIDES, encoding="utf-8")
    model = ("-m", f"script:{script}", "--set", "embedding_model=off")
    assert mind("init", pg_url, "why two tides?", *model).code == 0
    database = pg_url.rpartition("/")[2]
    postgres.admin("SET ROLE mind", *granted(member), database=database)
    url = pg_url.replace("//mind@", f"//{member}@")
    for words in (
        ("run",),
        ("accept",),
        ("message", "and why not one?"),
        ("fork", "other"),
        ("note", "on the branch"),
        ("new", "another", "what of the Sun?"),
        ("redact", "1", "--reason", "why not", "--everywhere", "--yes", "--session", "other"),
        ("verify",),
        ("store", "status"),
        ("work", "--once", "--shards", "2"),
        ("work", "rebuild", "--all", "--shards", "3"),
        ("work", "--once"),
        ("work", "show", "activity"),
        ("store", "migrate"),
    ):
        ran = mind(*words, MIND_STORE=url)
        assert ran.code == 0, (words, ran)
    postgres.admin("DROP TABLE logosphere.view_activity_rows CASCADE", database=database)
    refused = mind("work", "--once", MIND_STORE=url)
    assert (refused.code, "mind store migrate" in refused.err) == (2, True)
    assert "can't be written" in mind("store", "migrate", MIND_STORE=url).err
    made = mind("store", "migrate", pg_url)
    assert made.err == f"Made the tables of views in {pg_url} (activity): mind work fills them.\n"
    assert mind("work", "--once", MIND_STORE=url).code == 0
    sessions = {
        row["session"] for row in mind("work", "show", "activity", "--json", MIND_STORE=url).data
    }
    assert sessions == {"main", "other", "another"}


def test_the_doctor_says_what_a_role_may(
    mind: Mind, pg_url: str, postgres: Server, member: str
) -> None:
    """Who may only read is told so, and by whom that can be changed; nothing is amiss."""
    assert mind("init", pg_url, "why two tides?", "--set", "embedding_model=off").code == 0
    for statement in ("USAGE ON SCHEMA", "SELECT ON ALL TABLES IN SCHEMA"):
        grant = f"GRANT {statement} logosphere TO {member}"
        postgres.admin("SET ROLE mind", grant, database=pg_url.rpartition("/")[2])
    for url, told in (
        (pg_url, "possible"),
        (
            pg_url.replace("//mind@", f"//{member}@"),
            "read only: the role has no right to: ask the owner to GRANT it INSERT",
        ),
    ):
        ran = mind("doctor", "--json", MIND_STORE=url)
        checks = {check["what"]: check for check in ran.data}
        assert (ran.code, checks["writing"]["sentence"]) == (0, told)


def test_a_member_sends_nobody_elsewhere(
    mind: Mind, pg_url: str, postgres: Server, member: str
) -> None:
    """Who may begin sessions in every cell has no say in where those are."""
    first = f"{pg_url}?schema=logosphere"
    assert mind("init", first, "why two tides?").code == 0
    assert mind("store", "add-cell", "b", f"{pg_url}?schema=b", "--store", first).code == 0
    url = first.replace("//mind@", f"//{member}@")
    address = f"{pg_url}?schema=b".replace("//mind@", f"//{member}@")
    with psycopg.connect(pg_url) as owner:
        owner.execute("UPDATE logosphere.cells SET address = %s", (address,))
    database, allowed = pg_url.rpartition("/")[2], granted(member)
    there = [s.replace("logosphere", "b") for s in allowed]
    postgres.admin("SET ROLE mind", *allowed, *there, database=database)
    for name in map(str, range(4)):
        assert mind("new", name, "what of the Sun?", MIND_STORE=url).code == 0
    with psycopg.connect(pg_url) as owner:
        assert owner.execute("SELECT count(*) > 0 FROM logosphere.routes").fetchone() == (True,)
    for change in ("UPDATE logosphere.cells SET name = name", "DELETE FROM logosphere.cells"):
        denied = pytest.raises(psycopg.errors.InsufficientPrivilege)
        with psycopg.connect(pg_url, user=member) as one, denied:
            one.execute(change.encode())
