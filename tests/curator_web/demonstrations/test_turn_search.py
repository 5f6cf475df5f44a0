"""Demonstrations are found by what was said, typed and shown in their turns, in both databases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from curator_web import create_app
from curator_web.db.models.core import Demonstration, DemonstrationText
from curator_web.demonstrations.library import recounting, search_index
from curator_web.demonstrations.library.covers import cover_of
from curator_web.demonstrations.library.library import current, import_recording, listed
from curator_web.demonstrations.library.turn_texts import TEXT_LENGTH, differ, split_words, turn_text
from curator_web.demonstrations.listing import deleting, listing
from curator_web.demonstrations.listing.listing import Filter, read_filter
from curator_web.demonstrations.listing.matches import best_turns, excerpt
from curator_web.demonstrations.workflow.pairing import choose
from schemas.shared import REDACTED
from tests.support.curator.curator_fixtures import BOX, make_recording
from tests.support.curator.edits import edit
from tests.support.curator.team_fixtures import ANN, LEA, VAL, add_people

pytestmark = pytest.mark.postgresql


@pytest.fixture
def app(db_url, tmp_path):
    app = create_app(db_url, tmp_path / "data")
    yield app
    app.extensions["demotape"].db.close()


@pytest.fixture
def db(app):
    return app.extensions["demotape"].db


def add(app, folder, name: str, utterance: str = "", **told) -> None:
    """Import a recording, with another first utterance."""
    services = app.extensions["demotape"]

    def change(turns):
        if utterance:
            turns[0]["utterance"] = utterance
    import_recording(services.db, services.store, make_recording(folder, recording_id=name, change=change, **told))


def found(db, search: str, viewer=None) -> list[str]:
    return [row.id for row in listing.listing(db, Filter(search=search, order="asc"), viewer=viewer).rows]


def test_utterances_typed_texts_titles_and_targets_are_searched(app, db, tmp_path):
    add(app, tmp_path, "rec-1")
    add(app, tmp_path, "rec-2", "Take the night train to Zürich, 東京都 later", task="Travel")
    for search in ("Ancorage", "plese", "from CITY", "search flights", "book flight ancor", "date"):
        assert found(db, search) == ["rec-1", "rec-2"][:1 if "plese" in search else 2], search
    assert found(db, "zurich") == found(db, "nig trai travel") == found(db, "東京都") == found(db, "東京") == ["rec-2"]
    assert found(db, "rain") == []  # parts of words are found in task, site and id alone
    assert found(db, "京東") == found(db, "zurich anchorage") == []
    page = listing.listing(db, Filter(search="night zurich"))
    [match] = page.matches["rec-2"]
    assert match.turn == "t1" and match.text == "Take the night train to Zürich, 東京都 later"
    assert [piece for piece, is_word in match.pieces if is_word] == ["night", "Zürich"]
    assert read_filter({"q": "zurich"}) == read_filter({"search": "zurich"}) == Filter(search="zurich")


def test_an_edit_changes_what_is_found(app, db, tmp_path):
    add(app, tmp_path, "rec-1", "Call Mrs Smithson")
    assert found(db, "smithson") == ["rec-1"]
    version = edit(db, "rec-1", {"op": "set_utterance", "turn": "t1", "utterance": "Call her"}, 1, ANN).version
    assert found(db, "smithson") == [] and found(db, "call her") == ["rec-1"]
    version = edit(db, "rec-1", {"op": "undo"}, version, ANN).version
    assert found(db, "smithson") == ["rec-1"]
    version = edit(db, "rec-1", {"op": "set_task", "task": "Reach somebody"}, version, ANN).version
    assert found(db, "reach smithson") == ["rec-1"]
    edit(db, "rec-1", {"op": "end_before", "turn": "t3"}, version, ANN)
    assert set(found(db, "ancorage")) == {"rec-1~p4"} and found(db, "smithson") == ["rec-1"]
    batch = deleting.delete(db, ["rec-1"], LEA)
    assert found(db, "smithson") == []
    deleting.restore(db, batch, LEA)
    assert found(db, "smithson") == ["rec-1"]


def test_nobody_finds_what_they_may_not_see(app, db, tmp_path):
    add_people(app)
    add(app, tmp_path, "rec-1", "Call Mrs Smithson")
    choose(db, ["rec-1"], LEA)
    assert edit(db, "rec-1", {"op": "set_utterance", "turn": "t1", "utterance": "Call Peterson"}, 1, ANN).version == 2
    copy = listed(db, "rec-1~2")
    edit(db, copy.id, {"op": "set_utterance", "turn": "t1", "utterance": "Call Ericsson"}, copy.version, VAL)
    assert found(db, "peterson", LEA) == ["rec-1"] and found(db, "peterson", VAL) == []
    for viewer in (LEA, ANN, VAL):
        assert found(db, "ericsson", viewer) == found(db, "smithson", viewer) == []


def test_redacted_text_is_not_indexed(app, db, tmp_path):
    add(app, tmp_path, "rec-1", f"My code is {REDACTED}, thanks")
    assert found(db, "redacted") == [] and found(db, "code thanks") == ["rec-1"]
    with db.reading() as session:
        row = session.scalars(select(DemonstrationText)).one()
        assert REDACTED.strip("[]").lower() not in row.words and REDACTED not in str(row.turn_texts)


@pytest.mark.parametrize("search", [
    '"', "'", "' OR 1=1 --", '" OR "a', "NEAR(a b)", "a*", "-a", "words:anch", "^anch", "a:*", "a & b", "!a", "(", "\\",
    "\0x", "a" * 5000, "й" * 300, "😀", "½", "ﬁ", "_", "%", "anch' & '", "<->", "İ", "\u0345"])
def test_hostile_searches_are_words(app, db, tmp_path, search):
    add(app, tmp_path, "rec-1")
    client = app.test_client()
    for name in ("search", "q"):
        answer = client.get("/", query_string={name: search})
        assert answer.status_code == 200, search
        assert client.get("/api/demonstrations", query_string={name: search}).status_code == 200
    assert found(db, "anch") == ["rec-1"]


@given(st.text(max_size=40))
def test_whatever_a_text_has_it_is_found_by_its_words(text):
    words = split_words(text)
    assert all(words) and split_words(" ".join(words)) == words
    query = search_index.sought(text)
    if query and not query.pattern:
        assert all(any(word.startswith(beginning) for word in words) for beginning in query.beginnings)
    pieces = excerpt(text, words)
    assert "".join(piece for piece, _ in pieces).strip("…") in text


def test_the_turns_with_most_words_are_shown(app):
    texts = [["t1", "a night"], ["t2", "a night train"], ["t3", "the train"], ["t4", "x" * 300 + " night trains " * 40]]
    assert [match.turn for match in best_turns(texts, ["night", "train"])] == ["t2", "t4"]
    assert best_turns(texts, ["bus"]) == []
    [match] = best_turns(texts[3:], ["night"])
    assert match.text.startswith("…night trains") and len(match.text) < 200


def test_the_api_has_the_matching_turns(app, tmp_path):
    add(app, tmp_path, "rec-1")
    answer = app.test_client().get("/api/demonstrations?q=plese").json
    assert answer["matches"] == {"rec-1": [{"turn": "t1", "text": "Plese book a flight to Seatle"}]}


def test_old_rows_are_read_by_the_job_of_the_migration(app, db, tmp_path):
    add(app, tmp_path, "rec-1")
    with db.writing() as session:
        row = session.scalars(select(DemonstrationText)).one()
        row.words, row.turn_texts = "", []
        session.get_one(Demonstration, "rec-1").cover = None
    assert found(db, "plese") == []
    assert recounting.recount_all(db, "main", None) == {"demonstrations": 1, "changed": 1, "damaged": 0}
    assert found(db, "plese") == ["rec-1"] and listed(db, "rec-1").cover["turn"] == "t6"
    assert recounting.recount_all(db, "main", None)["changed"] == 0


def test_texts_are_short_and_only_changes_of_them_count(app, db, tmp_path):
    add(app, tmp_path, "rec-1", "long " * 1000)
    turns = current(db, "rec-1")["turns"]
    assert len(turn_text(turns[0])) <= TEXT_LENGTH
    assert not differ(turns, [*turns[3:], *turns[:3]]) and differ(turns, turns[1:])
    assert not differ(turns, [turn | {"dropped": True} for turn in turns])
    assert differ(turns, [turns[0] | {"utterance": "other"}, *turns[1:]])


def test_the_cover_is_cut_around_a_late_target(app, db, tmp_path):
    add(app, tmp_path, "rec-1")
    turns = current(db, "rec-1")["turns"]
    cover = cover_of(turns)
    assert cover == listed(db, "rec-1").cover and cover["turn"] == "t6" and cover["label"] == "Search flights"
    assert (cover["width"], cover["height"], cover["viewport"]) == (480, 300, [1280, 720])
    assert cover["left"] <= BOX["x"] and BOX["x"] + BOX["width"] <= cover["left"] + cover["width"]
    edit(db, "rec-1", {"op": "drop", "turn": "t6"}, 1, ANN)
    assert listed(db, "rec-1").cover["turn"] == "t4"
    assert cover_of(turns[:2])["label"] == "" and cover_of(turns[:1]) is None
    client, cut = app.test_client(), "left=290&top=0&width=480&height=300"
    picture = f"/thumbnails/rec-1/{cover['screenshot']}"
    answer = client.get(f"{picture}?{cut}&page=1280")
    assert answer.status_code == 200 and answer.content_type == "image/jpeg" and "immutable" in answer.headers[
        "Cache-Control"]
    for wrong in ("page=0", "page=-5", "page=9999999999", "page=", "page=1e9", "page=1280&left=5000"):
        assert client.get(f"{picture}?{wrong}&{cut}").status_code == 400, wrong
