"""Tables and costly tests of which `make test` runs a rotating part, and `make test-all` everything."""

import subprocess
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from tests.support.checkout import ROOT
from tests.support.processor_time import COSTLY_TESTS

PARTS = 6  # of the costly tests, of which `make test` runs one


def alternated(rows: Iterable[Any], ways: Sequence[Any]) -> list[Any]:
    """Every row in every way, for `parametrize`: `make test` runs each row in one of the ways, in rotation."""
    return [pytest.param(row, way, marks=() if number % len(ways) == index else pytest.mark.slow)
            for number, row in enumerate(rows) for index, way in enumerate(ways)]


def out_of_turn(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Costly tests that are left to other commits: five of six, the same ones for the same commit."""
    functions = set(COSTLY_TESTS.read_text(encoding="utf-8").split())
    costly = [item for item in items if item.nodeid.partition("[")[0] in functions]
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    turn = int(commit.strip() or "0", 16) % PARTS
    return {item for number, item in enumerate(costly) if number % PARTS != turn}
