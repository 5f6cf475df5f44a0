"""Twenty clients edit fifty demonstrations while the server is killed with -9 and started again, for minutes.

`python -m benchmarks.kill [--minutes M] [--kills N]`; the suite runs a short form (tests/curator_web/test_kill.py).
Fails when an acknowledged edit is missing, one was made twice, or a page does not show the fold of its edits. Ends with
one line of JSON.
"""

import argparse
import http.client
import json
import tempfile
from pathlib import Path

from curator_web.db.database import open_database
from curator_web.demonstrations.library.library import import_recording
from curator_web.storage.recordings import RecordingStore
from curator_web.users import add_user
from tests.support.curator.curator_fixtures import make_recording
from tests.support.services import databases, killing

CLIENTS, DEMONSTRATIONS = 20, 50


def run(url: str, folder: Path, minutes: float, kills: int) -> dict:
    """One database; an empty URL is SQLite in the folder."""
    url = url or f"sqlite:///{folder / 'demotape.db'}"
    db, store = open_database(url), RecordingStore(folder / "data")
    token = add_user(db, "ann", "annotator")
    names = [f"rec-{number}" for number in range(DEMONSTRATIONS)]
    for name in names:
        import_recording(db, store, make_recording(folder, recording_id=name))
    db.close()
    ledger, server = killing.run(url, folder / "data", names, token, clients=CLIENTS, kills=kills,
                                 seconds=minutes * 60 / (kills + 1))

    def page(address: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        connection.request("GET", address, headers={"Authorization": f"Bearer {token}"})
        return connection.getresponse().read().decode()
    try:
        return killing.check(url, names, ledger, page) | {
            "kills": kills, "sent_again": ledger.sent_again, "refused": ledger.refused}
    finally:
        server.stop()


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=1, help="for each database")
    parser.add_argument("--kills", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="demotape-kill-") as folder:
        results = {"sqlite": run("", Path(folder), given.minutes, given.kills)}
    with tempfile.TemporaryDirectory(prefix="demotape-kill-") as folder, databases.running({}) as server:
        results["postgresql"] = run(databases.Server(server).empty(), Path(folder), given.minutes, given.kills)
    print(json.dumps({"benchmark": "kill", **results}))


if __name__ == "__main__":
    main()
