"""A manifest is read as what somebody may have written: it holds what it should, or is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from domain.errors import Refused
from projections.analytics.files.manifest import FILE, MADE, VERSION, read

GOOD = "events/day=2026-01-01/000000000001-000000000002-0123abcd.parquet"


def manifest(**changed: Any) -> dict[str, Any]:
    """A small one that is whole, but for what is said otherwise."""
    store = {"position": 2, "hash": "00", "mark": "", "layout": "1"}
    file = {"table": "events", "path": GOOD, "rows": 1, "bytes": 9, "first": 1, "last": 2}
    return {
        "made": f"{MADE}{VERSION}",
        "store": store | changed.get("store", {}),
        "buckets": changed.get("buckets", 1),
        "chosen": changed.get("chosen", []),
        "digests": changed.get("digests", {}),
        "files": [file | changed.get("file", {})],
        "superseded": [],
    }


def test_a_whole_manifest_is_read(tmp_path: Path) -> None:
    """What the next test changes is no reason to refuse."""
    (tmp_path / FILE).write_text(json.dumps(manifest()))
    found = read(tmp_path)
    assert found is not None
    assert found.paths == {GOOD}


@pytest.mark.parametrize(
    "changed",
    [
        {"store": {"position": "2"}},
        {"store": {"position": 10**30}},
        {"store": {"position": -1}},
        {"store": {"layout": None}},
        {"buckets": "1"},
        {"chosen": [3]},
        {"digests": []},
        {"file": {"rows": "x"}},
        {"file": {"path": 5}},
        {"file": {"path": f"../{GOOD}"}},
        {"file": {"path": "/etc/passwd"}},
        {"file": {"more": 1}},
    ],
)
def test_a_manifest_that_holds_something_else_is_damaged(
    tmp_path: Path, changed: dict[str, Any]
) -> None:
    """Not a traceback; and nothing outside of the lake is taken for a part of it."""
    (tmp_path / FILE).write_text(json.dumps(manifest(**changed)))
    with pytest.raises(Refused, match="is damaged"):
        read(tmp_path)
