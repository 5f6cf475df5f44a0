"""Deciding about several demonstrations that were ticked on the list."""

import pytest

from tests.support.curator.team_fixtures import ANN, csrf, signed_in

from .test_workflow import app, db, fill, go, row

pytestmark = pytest.mark.postgresql

__all__ = ["app", "db", "fill"]


def test_several_are_decided_on_at_once_each_by_itself(app, db, fill):  # noqa: F811
    fill(3)
    go(db, "submitted", ANN)
    client = signed_in(app, "lea")
    data = {"csrf_token": csrf(client, "/"), "id": ["rec-1", "rec-2", "rec-9"], "decision": "approved",
            "list.sort": "turns"}
    assert client.post("/statuses", data=data).headers["Location"] == "/?sort=turns"
    page = client.get("/").text
    assert "Changed: 1 of 3." in page and "rec-2: " in page and "rec-9: unknown demonstration" in page
    assert row(db).status == "approved" and row(db, "rec-2").status == "draft"
    assert "Changed: " not in client.get("/").text
    invalid = data | {"decision": "invalid", "id": ["rec-2", "rec-3"]}
    client.post("/statuses", data=invalid)
    assert row(db, "rec-2").status == "draft" and "field reason" in client.get("/").text
    client.post("/statuses", data=invalid | {"reason": "Test runs"})
    assert {row(db, name).status for name in ("rec-2", "rec-3")} == {"invalid"}
    other = signed_in(app, "ann")
    other.post("/statuses", data=data | {"csrf_token": csrf(other, "/"), "decision": "draft"})
    assert row(db).status == "approved" and "decide-status" not in other.get("/").text
