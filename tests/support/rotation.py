"""Tables of which `make test` runs a rotating part, and `make test-all` everything."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def alternated(rows: Iterable[Any], ways: Sequence[Any]) -> list[Any]:
    """Every row in every way, for `parametrize`: `make test` runs each row in one of the ways, in rotation."""
    return [pytest.param(row, way, marks=() if number % len(ways) == index else pytest.mark.slow)
            for number, row in enumerate(rows) for index, way in enumerate(ways)]
