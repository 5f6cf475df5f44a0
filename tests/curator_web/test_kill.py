"""The server is killed with -9 while twenty clients edit: what was acknowledged is there, once.

The long form is benchmarks.kill.
"""

import http.client

import pytest

from curator_web.db.database import open_database
from curator_web.demonstrations.library.library import import_recording
from curator_web.storage.recordings import RecordingStore
from curator_web.users import add_user
from tests.support.curator.curator_fixtures import make_recording
from tests.support.services import killing

pytestmark = pytest.mark.slow


@pytest.fixture
def filled(db_url, tmp_path):
    """A database with one user and twenty demonstrations; returns the user's token and the names."""
    db, store = open_database(db_url), RecordingStore(tmp_path / "data")
    token = add_user(db, "ann", "annotator")
    names = [f"rec-{number}" for number in range(20)]
    for name in names:
        import_recording(db, store, make_recording(tmp_path, recording_id=name))
    db.close()
    return token, names


def test_no_acknowledged_edit_is_lost_or_made_twice(db_url, filled, tmp_path):
    token, names = filled
    ledger, server = killing.run(db_url, tmp_path / "data", names, token, clients=20, kills=2, edits=40)

    def page(address):
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("GET", address, headers={"Authorization": f"Bearer {token}"})
        return connection.getresponse().read().decode()
    try:
        found = killing.check(db_url, names, ledger, page)
    finally:
        server.stop()
    assert found["acknowledged"] >= 120 and found["kept"] >= found["acknowledged"]
    assert ledger.sent_again > 0
    assert "Traceback" not in server.log()
