"""Tables and modules of which `make test` runs a rotating part, and `make test-all` everything."""

import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import pytest

from tests.support.checkout import ROOT

PARTS = 3  # of a module marked `costly`, of which `make test` runs one


def alternated(rows: Iterable[Any], ways: Sequence[Any]) -> list[Any]:
    """Every row in every way, for `parametrize`: `make test` runs each row in one of the ways, in rotation."""
    return [pytest.param(row, way, marks=() if number % len(ways) == index else pytest.mark.slow)
            for number, row in enumerate(rows) for index, way in enumerate(ways)]


def is_out_of_turn(number: int) -> bool:
    """Whether a costly module's test, counted from 0, is left to other commits: the same ones for the same commit."""
    return number % PARTS != _turn()


@cache
def _turn() -> int:
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    return int(commit.strip() or "0", 16) % PARTS
