"""What the tests of faults share: a house for each test."""

from pathlib import Path

import pytest

from tests.faults.machinery import House, house


@pytest.fixture
def home(tmp_path: Path) -> House:
    """A house without a store yet."""
    return house(tmp_path)
