"""A pointer that a person puts somewhere by numbers stays on the page that was shown."""

import pytest

from curator_web.db.database import open_database
from curator_web.demonstrations.library.library import import_recording, review
from curator_web.demonstrations.workflow.editing import add_edit
from curator_web.errors import InputError
from curator_web.storage.recordings import RecordingStore
from tests.support.curator.curator_fixtures import make_recording


def test_outside_of_the_page_is_refused(tmp_path):
    db, store = open_database(f"sqlite:///{tmp_path / 'd.db'}"), RecordingStore(tmp_path / "data")
    name = import_recording(db, store, make_recording(tmp_path)).id
    version = review(db, name).row.version
    click = next(turn for turn in review(db, name).turns if turn.get("intent") == "click")
    change = {"op": "set_arguments", "turn": click["id"]}
    for number, field in ((99_999, "x"), (-1, "y"), (721, "y")):
        with pytest.raises(InputError, match=f"field {field}: {number} is outside the page"):
            add_edit(db, name, change | {"arguments": click["arguments"] | {field: number}}, version)
    given = click["arguments"] | {"x": 1280.0, "y": 0.0}
    assert add_edit(db, name, change | {"arguments": given}, version) == version + 1
    db.close()
