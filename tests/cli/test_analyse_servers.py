"""`mind analyse` of a store on servers finds what it finds in a directory."""

from pathlib import Path
from typing import Any

import pytest

from commands.eventlog import EventLog
from commands.eventlog.place import place_of
from commands.eventlog.postgres.new_cell import add_cell
from tests.cli.conftest import Mind
from tests.projections.fleet.many import grow, grown

SESSIONS, EXCHANGES = 8, 2


def _same(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without their place in the order of a store, of which each cell has its own."""
    return sorted(
        ({key: value for key, value in row.items() if key != "position"} for row in rows),
        key=str,
    )


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store in a directory."""
    return str(grown(tmp_path / "here", SESSIONS, EXCHANGES))


def test_a_server_is_read_by_workers_of_their_own_accord(
    within: Mind, store: str, pg_url: str
) -> None:
    """The digest is that of a directory where the same happened."""
    with EventLog.create(place_of(pg_url)) as log:
        grow(log, SESSIONS, EXCHANGES)
    ran = within("analyse", "drafts", "--workers", "1", "--json", "-S", pg_url)
    assert ran.code == 0, ran.err
    assert ran.data == within("analyse", "drafts", "-w", "0", "--json", "-S", store).data


def test_all_cells_are_read(within: Mind, store: str, pg_url: str) -> None:
    """Each up to a position of its own; of a cell that is named, its sessions alone."""
    url = f"{pg_url}?schema=first"
    EventLog.create(place_of(url)).close()
    for name in ("b", "c"):
        add_cell(place_of(url).address, name, f"{pg_url}?schema={name}")
    with EventLog(place_of(url)) as log:
        grow(log, SESSIONS, EXCHANGES)
    words = ("--workers", "0", "--json", "-S")
    for job in ("sessions", "thoughts", "costs"):
        found, wanted = (within("analyse", job, *words, where).data for where in (url, store))
        assert _same(found["rows"]) == _same(wanted["rows"])
        cells = found["cells"]
        assert sum(cell["position"] for cell in cells.values()) == wanted["position"]
        assert set(cells) == {"home", "b", "c"}
    alone = [
        within("analyse", "sessions", *words, f"{url}&cell={cell}").data
        for cell in ("home", "b", "c")
    ]
    assert sum(len(one["rows"]) for one in alone) == SESSIONS
    ran = within("analyse", "costs", "--upto", "1", *words, url)
    assert (ran.code, "cell=home" in ran.err) == (2, True)
    assert "position" in within("analyse", "costs", "-w", "0", "-S", url).err
