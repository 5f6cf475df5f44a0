"""Every limit is in the documentation, and told to people in units that they know."""

from pathlib import Path

import pytest

from schemas import limits


def test_every_limit_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "limits.md").read_text()
    assert [name for name in vars(limits) if name.isupper() and f"`{name}`" not in text] == []


@pytest.mark.parametrize(("limit", "told"), [
    (900, "900 bytes"), (4096, "4 KiB"), (16 << 20, "16 MiB"), (3 << 30, "3 GiB")])
def test_a_size_is_told_in_its_unit(limit, told):
    assert limits.size(limit) == told
