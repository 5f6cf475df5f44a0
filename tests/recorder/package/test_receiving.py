"""What the extension hands over becomes a recording; what is not whole, or meant to harm, becomes one clear error."""

import hashlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline import process
from pipeline.verify import verify
from recorder import Recording
from recorder.package.package_file import Package
from recorder.package.receiving import receive
from schemas import DemotapeError, InputError
from tests.support.samples.packages import START, journal, message, pack, picture, rewritten, snapshot


def test_a_package_becomes_a_recording(tmp_path):
    assert receive(pack(tmp_path / "p.zip"), tmp_path / "rec") == []
    recording = Recording(tmp_path / "rec")
    assert verify(tmp_path / "rec") == []
    assert (recording.id, recording.task, recording.manifest["status"]) == ("pack-1", "Go", "complete")
    assert recording.manifest["viewport"] == {"width": 800, "height": 600}
    assert [(turn["type"], turn.get("intent")) for turn in process(tmp_path / "rec")["turns"]] == [
        ("browser", "load"), ("browser", "click"), ("chat", None)]
    click = next(event for event in recording.events if event["type"] == "pointerdown")
    assert click["state"]["screenshot_time"] == 0.9 and not click["state"]["stale"]
    assert b">Go</button>" in recording.blob(click["state"]["dom"])


def test_the_same_package_gives_the_same_recording(tmp_path):
    package = pack(tmp_path / "p.zip")
    for name in ("one", "two"):
        receive(package, tmp_path / name)
    one, two = (sorted((path.relative_to(tmp_path / name), path.read_bytes())
                       for path in (tmp_path / name).rglob("*") if path.is_file()) for name in ("one", "two"))
    assert one == two


def test_a_recording_that_was_cut_off_is_recovered(tmp_path):
    receive(pack(tmp_path / "p.zip", journal()[:-1], ended=False), tmp_path / "rec")
    assert Recording(tmp_path / "rec").manifest["status"] == "recovered"
    assert verify(tmp_path / "rec") == []


def test_nothing_of_a_pause_is_kept_and_an_undo_drops_its_turn(tmp_path):
    lines = journal()
    paused = {"kind": "page", "tab": 1, "frame": 0, "document": "D1", "at": START + 2.6, "sent": START + 2.6,
              "message": message(3, "pointerdown", 2.6, snapshot=snapshot(1))}
    lines[-1:] = [{"kind": "undo", "at": START + 2.4, "event": 4}, {"kind": "pause", "at": START + 2.5}, paused,
                  {"kind": "resume", "at": START + 2.7}, {"kind": "end", "at": START + 3}]
    receive(pack(tmp_path / "p.zip", lines), tmp_path / "rec")
    turns = process(tmp_path / "rec")["turns"]
    assert [(turn.get("intent"), turn["dropped"]) for turn in turns if turn["type"] == "browser"] == [
        ("load", False), ("click", True)]


def test_a_still_is_marked(tmp_path):
    lines = journal()
    lines[5]["still"] = True
    receive(pack(tmp_path / "p.zip", lines), tmp_path / "rec")
    assert [event["state"]["stale"] for event in Recording(tmp_path / "rec").events if event["type"] == "pointerdown"] \
        == [True]


@pytest.mark.parametrize("facts, reason", [
    ({}, "still"), ({"screenshot_agrees": False}, "still"), ({"screenshot_agrees": True}, None),
    ({"stale_because": "moved"}, "still")])
def test_a_still_of_a_page_that_did_not_change_until_the_event_is_good(tmp_path, facts, reason):
    lines = journal()
    lines[5] |= {"still": True, **facts}
    receive(pack(tmp_path / "p.zip", lines), tmp_path / "rec")
    (state,) = [event["state"] for event in Recording(tmp_path / "rec").events if event["type"] == "pointerdown"]
    assert (state.get("stale_because"), state.get("stale", False)) == (reason, reason is not None)
    assert state.get("screenshot_agrees", False) == (reason is None)


def test_a_picture_from_before_the_last_action_is_marked_when_the_page_has_changed(tmp_path):
    """Four presses, 0.2 seconds apart: the page changes at the first and the second, but no frame comes."""
    lines = journal()[:4]
    for number, text in enumerate((1, 2, 2), 1):
        told = snapshot(text) | {"chunks": [[text, f'<html data-demotape-uid="i-1"><p>{text}</p></html>']]}
        at = START + 1 + number / 5
        lines.append({"kind": "page", "tab": 1, "frame": 0, "document": "D1", "at": at, "sent": at,
                      "message": message(2 + number, "pointerdown", 1 + number / 5, snapshot=told)})
    for number in (4, 5, 6, 7):
        lines.append({"kind": "picture", "at": START + 2, "tab": 1, "event": number, "time": START + .9, "still": False,
                      "blob": hashlib.sha256(picture()).hexdigest()})
    receive(pack(tmp_path / "p.zip", [*lines, {"kind": "end", "at": START + 3}]), tmp_path / "rec")
    presses = [event for event in Recording(tmp_path / "rec").events if event["type"] == "pointerdown"]
    assert [event["state"]["stale"] for event in presses] == [False, True, True, False]


@pytest.mark.parametrize("navigated_first", [False, True])
def test_a_frame_that_tells_before_its_page_does_keeps_what_it_told(tmp_path, navigated_first):
    """Messages of several frames keep no order: nine frames have told of themselves before the page that holds them."""
    frames = range(9)
    outer = snapshot() | {
        "chunks": [[0, '<html data-demotape-uid="i-1">' + "".join(
            f'<iframe data-demotape-uid="i-{9 + each}"></iframe>' for each in frames) + "</html>"]],
        "frames": [{"index": each, "uid": f"i-{9 + each}", "path": [], "x": 0, "y": 20 * each,
                    "width": 9, "height": 9, "scaleX": 1, "scaleY": 1} for each in frames]}
    told = [_page(1 + each, .5, message(1, "snapshot", .5, path=[each], snapshot=_inner(each), target=None))
            for each in frames]
    navigate = journal()[2] | {"document": "D0"}
    top = _page(0, .6, message(1, "snapshot", .6, snapshot=outer, target=None))
    press = _page(9, 1, message(2, "pointerdown", 1, path=[8], snapshot=_inner(8, chunks=[], rows=[1]), target=None))
    lines = [*journal()[:2], *told, *([navigate, top] if navigated_first else [top, navigate]), press,
             {"kind": "end", "at": START + 3}]
    assert receive(pack(tmp_path / "p.zip", lines, blobs=[]), tmp_path / "rec") == []
    recording = Recording(tmp_path / "rec")
    (event,) = [event for event in recording.events if event["type"] == "pointerdown"]
    dom, rows = (recording.blob(event["state"][name]).decode() for name in ("dom", "elements"))
    assert all(f"Inside {each}" in dom and f'"f{each}-2"' in rows for each in frames)


def _page(frame: int, at: float, told: dict) -> dict:
    """The line of a message from a frame."""
    at += START
    return {"kind": "page", "tab": 1, "frame": frame, "document": f"D{frame}", "at": at, "sent": at, "message": told}


def _inner(number: int, **changes) -> dict:
    """What a frame of another site shows, whole."""
    text = f'<html data-demotape-uid="f{number}-1"><p data-demotape-uid="f{number}-2">Inside {number}</p></html>'
    row = {"uid": f"f{number}-2", "tag": "p", "role": "", "name": "", "frame": [], "visible": True, "clickable": False,
           "bbox": {"x": 1, "y": 1, "width": 9, "height": 9}}
    return snapshot() | {"frame_group": f"f{number}", "root": 1, "chunks": [[1, text]], "rows": [[1, row]]} | changes


def test_a_clock_that_was_set_is_set_right(tmp_path):
    lines = journal()
    late = message(3, "pointerdown", 3602, snapshot=snapshot(1))
    lines[-1:] = [{"kind": "page", "tab": 1, "frame": 0, "document": "D2", "at": START + 2.5,
                   "sent": START + 3602, "message": late},
                  {"kind": "end", "at": START + 3}]
    receive(pack(tmp_path / "p.zip", lines), tmp_path / "rec")
    assert max(event["time"] for event in Recording(tmp_path / "rec").events) < 3


def line(number: int, **changes):
    """Lines with one of them changed."""
    lines = journal()
    lines[number - 1] = lines[number - 1] | changes
    return lines


def with_snapshot(**changes):
    return line(4, message=message(1, "pointerdown", 1, snapshot=snapshot() | changes))


BOMB = [[number, f"\x01{number - 1}\x01" * 2 if number else "x" * 100] for number in range(60)]
BAD_LINES = [
    ("a field that nobody knows", line(2, more=1), "line 2: field more"),
    ("a kind that nobody knows", line(2, kind="run"), "line 2: field kind: unknown kind 'run'"),
    ("a number left out", line(5, n=6), "line 5: field n: 6 instead of 5"),
    ("a tab that is not there", line(4, tab=7), "line 4: field tab: unknown tab 7"),
    ("a tab out of order", line(2, tab=2), "line 2: field tab: 2 instead of 1"),
    ("a second beginning", [*journal()[:1], *journal()], "line 2: field kind: begin is not allowed"),
    ("no beginning", journal()[1:], "line 1: field kind: tab is not allowed"),
    ("something after the end", [*journal(), journal()[6]], "line 9: field kind: chat is not allowed"),
    ("another recording's beginning", line(1, id="other"), "line 1: field id"),
    ("a time that is none", line(4, at="now"), "line 4: field at"),
    ("an event that nobody knows", line(4, message=message(1, "teleport", 1)), "line 4: field message.type"),
    ("an element without a tag", line(4, message=message(1, "click", 1, target={"uid": "1"})), "field message.target"),
    ("rows that are none", with_snapshot(rows=["x"]), "field message.snapshot.rows"),
    ("frames too deep", line(4, message=message(1, "click", 1, path=[0] * 99)), "field message.path"),
    ("a picture that is missing", line(6, blob="0" * 64), "blobs/0000"),
    ("a video that is missing", [*journal()[:-1], {"kind": "video", "at": START + 3, "packets": [], "width": 2,
                                                   "height": 2, "blob": "1" * 64}], "blobs/1111"),
    ("an utterance of nobody", line(7, speaker="robot"), "line 7: field speaker"),
]


LEFT_OUT = [
    ("a row that is missing", with_snapshot(rows=[99]), "rows are missing"),
    ("a chunk that is missing", with_snapshot(chunks=[[0, "\x0199\x01"]]), "pieces of it are missing"),
    ("a root that is missing", with_snapshot(root=5), "its root is missing"),
    ("chunks in a circle", with_snapshot(root=1, chunks=[[0, "\x011\x01"], [1, "\x010\x01"]]), "pieces of it"),
    ("uids that are too few", with_snapshot(chunks=[[0, "\x031+1\x03<b><i></i></b>\x03"]]), "uids do not fit"),
    ("uids that are too many", with_snapshot(chunks=[[0, "\x031+999999999\x03<b></b>\x03"]]), "uids do not fit"),
    ("chunks that blow up", with_snapshot(root=59, chunks=BOMB), "it is too large"),
]


@pytest.mark.parametrize(("lines", "told"), [row[1:] for row in LEFT_OUT], ids=[row[0] for row in LEFT_OUT])
def test_a_state_that_cannot_be_put_together_is_left_out(tmp_path, lines, told):
    """A fault in one page does not cost the recording."""
    (problem,) = receive(pack(tmp_path / "p.zip", lines), tmp_path / "rec")
    assert told in problem and "line 4" in problem
    assert [turn.get("intent") for turn in process(tmp_path / "rec")["turns"]] == ["load", "click", None]
    assert verify(tmp_path / "rec") == []


@pytest.mark.parametrize(("lines", "told"), [row[1:] for row in BAD_LINES], ids=[row[0] for row in BAD_LINES])
def test_a_bad_journal_is_one_clear_error(tmp_path, lines, told):
    with pytest.raises(InputError) as error:
        receive(pack(tmp_path / "p.zip", lines), tmp_path / "rec")
    assert told in str(error.value) and str(tmp_path / "p.zip") in str(error.value) and "\n" not in str(error.value)


BLOB = f"blobs/{hashlib.sha256(picture()).hexdigest()}"
BAD_FILES = [
    ("a name that leads out", lambda entries: entries.update({"../../evil": b"x"}), "is not a file of a package"),
    ("a file that is not listed", lambda entries: entries.update({"blobs/" + "f" * 64: b"x"}),
     "is not a file of a package"),
    ("no manifest", lambda entries: entries.pop("manifest.json"), "no manifest.json"),
    ("no journal", lambda entries: entries.pop("journal.jsonl"), "journal.jsonl: is missing"),
    ("a picture missing", lambda entries: entries.pop(BLOB), "is missing"),
    ("a picture of another size", lambda entries: entries.update({BLOB: b"x"}), "1 bytes instead of"),
    ("a damaged picture", lambda entries: entries.update({BLOB: bytes(len(picture()))}), "damaged"),
    ("a damaged journal", lambda entries: entries.update({"journal.jsonl": entries["journal.jsonl"].replace(
        b"Well done", b"Well dane")}), "damaged"),
    ("a bomb", lambda entries: entries.update({"journal.jsonl": b"\0" * 90_000_000}), "bytes instead of"),
    ("a manifest that is no JSON", lambda entries: entries.update({"manifest.json": b"{"}), "not JSON"),
    ("a manifest of another format", lambda entries: entries.update({"manifest.json": b"{}"}), "manifest.json: field"),
]


@pytest.mark.parametrize(("change", "told"), [row[1:] for row in BAD_FILES], ids=[row[0] for row in BAD_FILES])
def test_a_bad_zip_is_one_clear_error(tmp_path, change, told):
    package = rewritten(pack(tmp_path / "p.zip"), change)
    with pytest.raises(InputError) as error:
        receive(package, tmp_path / "rec")
    assert told in str(error.value) and "\n" not in str(error.value)
    assert not list(tmp_path.parent.glob("evil"))


def test_a_bomb_with_an_honest_manifest_is_refused(tmp_path):
    lines = [*journal()[:-1], {"kind": "problem", "at": START + 3, "message": "x" * 90_000_000}]
    with pytest.raises(InputError, match="its compression ratio is too high"):
        Package(pack(tmp_path / "p.zip", lines))


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x03\x04" + b"\0" * 40, b"not a zip"])
def test_what_is_no_zip_is_one_clear_error(tmp_path, content):
    (tmp_path / "p.zip").write_bytes(content)
    with pytest.raises(InputError, match="not a package"):
        receive(tmp_path / "p.zip", tmp_path / "rec")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_stands_in_a_line_it_is_kept_or_refused(tmp_path_factory, data):
    """Any value in any field of any line: a recording that verifies, or our own error."""
    folder = tmp_path_factory.mktemp("any")
    lines = json.loads(json.dumps(journal()))
    place = lines[data.draw(st.integers(0, len(lines) - 1))]
    for _ in range(data.draw(st.integers(0, 3))):
        inner = [value for value in place.values() if isinstance(value, dict)]
        place = data.draw(st.sampled_from(inner)) if inner else place
    anything = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9) | st.lists(
        st.integers(), max_size=3) | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2)
    place[data.draw(st.sampled_from(sorted(place)))] = data.draw(anything)
    try:
        receive(pack(folder / "p.zip", lines), folder / "rec")
    except DemotapeError:
        return
    assert verify(folder / "rec") == []
