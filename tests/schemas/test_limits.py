"""Every limit is in the documentation, told to people in units that they know, and held."""

import json
from pathlib import Path

import pytest
from marshmallow import ValidationError

from recorder import Recording
from schemas import EditSchema, InputError, limits
from schemas.files import validated
from schemas.formats.parts import SHA256, SizeSchema
from tests.support.curator.curator_fixtures import manifest as made_manifest


def manifest(name: str) -> dict:
    return made_manifest(name) | {"viewport": None}


def test_every_limit_is_documented():
    text = (Path(__file__).parents[2] / "docs" / "limits.md").read_text()
    assert [name for name in vars(limits) if name.isupper() and f"`{name}`" not in text] == []


@pytest.mark.parametrize(("limit", "told"), [
    (900, "900 bytes"), (4096, "4 KiB"), (16 << 20, "16 MiB"), (3 << 30, "3 GiB")])
def test_a_size_is_told_in_its_unit(limit, told):
    assert limits.size(limit) == told


@pytest.mark.parametrize("started", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
                                     "1969-12-31T23:59:59+00:00"])
def test_a_moment_that_some_zone_cannot_tell_is_refused(started, tmp_path):
    made = manifest("old") | {"started_at": started, "ended_at": None, "status": "complete"}
    (tmp_path / "recording.json").write_text(json.dumps(made))
    with pytest.raises(InputError, match="field started_at: Must be a moment of the years 1970 to 4999"):
        Recording(tmp_path)


@pytest.mark.parametrize("size", [{"width": 10**400, "height": 1}, {"width": 40_000, "height": 1},
                                  {"width": 30_000, "height": 30_000}])
def test_a_viewport_that_no_screen_has_is_refused(size):
    with pytest.raises(InputError, match=r"Must be"):
        validated(size, SizeSchema(), "x")


@pytest.mark.parametrize("kind", [[], {}, [1, "chat"], None, 1, "other"])
def test_what_is_no_kind_of_turn_is_refused(kind):
    edit = {"op": "add", "turn": "a", "after": None, "added": {"type": kind}}
    with pytest.raises(InputError, match="type must be `chat` or `browser`"):
        validated(edit, EditSchema(), "x")


def test_no_digest_takes_a_line_feed():
    for name in ("0" * 64 + "\n", "\n" + "0" * 64, "0" * 63 + "\n"):
        with pytest.raises(ValidationError):
            SHA256(name)
