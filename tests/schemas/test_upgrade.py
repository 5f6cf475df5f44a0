"""Steps between versions: with a version 2 of every format, made up here, the files of version 1 are used as ever."""

import json
import re
import shutil
from pathlib import Path

import pytest
from marshmallow import fields
from sqlalchemy import text

from curator_web.db.database import open_database
from curator_web.demonstrations.library import library
from curator_web.demonstrations.library.library import current, import_recording
from curator_web.demonstrations.workflow.editing import add_edit
from curator_web.storage.recordings import RecordingStore
from pipeline import processing, refresh
from pipeline.export import Source, export, secret_digests_of
from pipeline.export.manifest import ManifestSchema, read_manifest
from pipeline.turns import edits
from pipeline.verify import verify
from recorder import Recording, reader
from recorder.package import package_file as packages
from recorder.package.receiving import receive
from schemas import VERSIONS, ChatLineSchema, EditSchema, EventSchema, InputError, RecordingSchema, ResourceSchema
from schemas.formats.demonstration import (
    BrowserTurnSchema,
    ChatTurnSchema,
    DemonstrationSchema,
    TurnField,
    TurnStateSchema,
)
from schemas.formats.package import LINES, PackageSchema
from schemas.upgrade import HEADS, PIECES, STEPS, upgrade
from tests.support.checkout import ROOT
from tests.support.kept import DATA
from tests.support.samples.packages import rewritten
from tests.test_docs import SCHEMAS

pytestmark = pytest.mark.postgresql

V1 = DATA / "v1"


def renamed(old: str, new: str):
    """A step that gives a field another name."""
    return lambda content: {new if name == old else name: value for name, value in content.items()}


def moving(demonstration: dict) -> dict:
    """A step that renames a field deep in a demonstration, as version 2's pipeline writes it."""
    rename = renamed("animations", "moving")
    return demonstration | {"turns": [turn | {"state": rename(turn["state"])} if turn.get("state") else turn
                                      for turn in demonstration["turns"]]}


@pytest.fixture
def version_2(monkeypatch):
    """Every format has one more version, 2 of most, with a field of another name; its code writes and reads that."""
    now = dict(VERSIONS)
    for format, version in now.items():
        monkeypatch.setitem(VERSIONS, format, version + 1)

    def declare(schema, declared):  # the dictionary itself stays as it is: its order is that of what is written
        monkeypatch.setattr(schema, "_declared_fields", declared)

    def rename(piece, old, new, *schemas):
        monkeypatch.setitem(STEPS[piece], now[PIECES[piece]], renamed(old, new))
        for schema in schemas:  # the code goes on under the old name, the file has the new one
            told = schema._declared_fields[old]
            changed = type(told)(required=True, validate=told.validate, data_key=new)
            declare(schema, schema._declared_fields | {old: changed})

    rename("recording", "task", "goal", RecordingSchema)
    monkeypatch.setattr(reader, "_MANIFEST", RecordingSchema())
    rename("event", "time", "at", EventSchema)
    rename("chat line", "utterance", "said", ChatLineSchema)
    rename("resource", "content_type", "media_type", ResourceSchema)
    rename("package", "task", "goal", PackageSchema)
    rename("package line", "at", "clock", *LINES.values())
    monkeypatch.setattr(packages, "_LINE_SCHEMAS", {kind: schema() for kind, schema in LINES.items()})

    monkeypatch.setitem(STEPS["demonstration"], 1, moving)
    declare(TurnStateSchema, renamed("animations", "moving")(TurnStateSchema._declared_fields))
    monkeypatch.setattr(library, "SCHEMA", DemonstrationSchema())
    kinds = {"chat": ChatTurnSchema(), "browser": BrowserTurnSchema()}
    monkeypatch.setattr(TurnField, "_kinds", kinds)
    monkeypatch.setattr(edits, "_SCHEMAS", kinds)
    monkeypatch.setattr(processing, "STAGES", (*processing.STAGES, lambda demonstration, _: moving(demonstration)))

    monkeypatch.setitem(STEPS["edit"], 1, renamed("utterance", "words"))
    declare(EditSchema, renamed("utterance", "words")(EditSchema._declared_fields))
    monkeypatch.setitem(EditSchema._needs, "set_utterance", ("turn", "words"))
    monkeypatch.setattr(edits, "_SCHEMA", EditSchema())
    monkeypatch.setitem(edits._CHANGES, "set_utterance", lambda turn, edit: turn | {"utterance": edit["words"]})


@pytest.fixture
def kept(tmp_path) -> Path:
    return shutil.copytree(V1 / "kept", tmp_path / "kept")


def say(utterance: str, name: str = "utterance") -> dict:
    turns = json.loads((V1 / "kept" / "demonstration.json").read_bytes())["turns"]
    return {"op": "set_utterance", "turn": turns[1]["id"], name: utterance}


def test_an_old_recording_is_read_processed_reviewed_and_exported(version_2, kept, tmp_path):
    before = {path: path.read_bytes() for path in kept.glob("*.json*")}
    recording = Recording(kept)
    assert (recording.version, recording.manifest["version"], recording.task) == (1, 3, "Order two lamps")
    assert recording.chat()[0]["utterance"] == "Two floor lamps, please" and recording.resources()
    assert verify(kept) == []

    db, store = open_database(f"sqlite:///{tmp_path / 'd.db'}"), RecordingStore(tmp_path / "data")
    assert import_recording(db, store, kept).outcome == "new"
    assert current(db, recording.id)["version"] == 2
    assert before == {path: path.read_bytes() for path in kept.glob("*.json*")}  # only read so far

    made, new = refresh(kept)  # a version is also new code
    # What the step makes is what version 2 makes, with what processing has counted since.
    assert new and made == {**current(db, recording.id), "unexplained_changes": 0}
    assert json.loads((kept / "demonstration.json").read_bytes())["version"] == 2
    assert (kept / "recording.json").read_bytes() == before[kept / "recording.json"]
    assert import_recording(db, store, kept).outcome == "renewed"  # by that count
    add_edit(db, recording.id, say("Two lamps", "words"), 2)
    demonstration = current(db, recording.id)
    assert demonstration["turns"][1]["utterance"] == "Two lamps"
    export([Source(demonstration, store.open(recording.id))], tmp_path / "export", "weblinx")
    assert verify(tmp_path / "export") == [] and verify(kept) == []
    assert read_manifest(tmp_path / "export")["version"] == 2
    db.close()


def test_old_turns_and_edits_in_a_database_are_folded(db_url, kept, tmp_path, request):
    db = open_database(db_url)
    name = import_recording(db, RecordingStore(tmp_path / "data"), kept).id
    add_edit(db, name, say("first"), 1)
    with db.engine.begin() as connection:  # as databases from before edits were kept with their version
        old = json.dumps(say("second"))
        connection.execute(text("INSERT INTO edits (demonstration_id, number, content, who, made_at) "
                                "VALUES (:name, 2, :old, 'ann', '2025-01-01')"), {"name": name, "old": old})
        connection.execute(text("UPDATE demonstrations SET version = 3"))
    request.getfixturevalue("version_2")
    assert current(db, name)["turns"][1]["utterance"] == "second"
    add_edit(db, name, say("third", "words"), 3)
    add_edit(db, name, {"op": "undo"}, 4)
    add_edit(db, name, {"op": "undo"}, 5)
    found = current(db, name)
    assert found["turns"][1]["utterance"] == "first" and "moving" in found["turns"][0]["state"]
    with db.engine.connect() as connection:
        stored = [json.loads(one) if isinstance(one, str) else one for one in connection.scalars(
            text("SELECT content FROM edits ORDER BY number"))]
    assert [edit.get("version") for edit in stored] == [1, None, 2, 2, 2]  # nothing was rewritten
    db.close()


def test_a_database_with_edits_of_a_newer_version_says_so(kept, tmp_path, monkeypatch):
    db = open_database(f"sqlite:///{tmp_path / 'd.db'}")
    name = import_recording(db, RecordingStore(tmp_path / "data"), kept).id
    with db.engine.begin() as connection:
        connection.execute(text("INSERT INTO edits (demonstration_id, number, content, who, made_at) VALUES "
                                "(:name, 1, '{\"op\": \"redo\", \"version\": 2}', 'a', '2025-01-01')"), {"name": name})
    with pytest.raises(InputError, match="version: 2 is newer .* update demotape"):
        current(db, name)
    db.close()


def test_an_old_package_and_an_old_export_are_read(version_2, tmp_path, monkeypatch):
    assert receive(V1 / "package.zip", tmp_path / "received") == []
    received = Recording(tmp_path / "received")
    assert received.manifest["task"] == "Order two lamps" and received.version == VERSIONS["demotape/recording"]
    monkeypatch.setitem(STEPS["export"], 1, renamed("left_out", "skipped"))
    told = ManifestSchema._declared_fields["left_out"]
    changed = fields.Dict(keys=told.key_field, values=told.value_field, required=True, data_key="skipped")
    monkeypatch.setattr(ManifestSchema, "_declared_fields", ManifestSchema._declared_fields | {"left_out": changed})
    assert read_manifest(V1 / "export")["left_out"] == {} and verify(V1 / "export") == []


def test_a_recording_of_an_old_version_whose_recorder_was_killed_is_not_rewritten(version_2, kept):
    manifest = kept / "recording.json"
    manifest.write_text(manifest.read_text().replace('"complete"', '"recording"'))
    before = manifest.read_bytes()
    for _ in range(2):
        assert Recording(kept).manifest["status"] == "recovered" and Recording(kept).events
    assert manifest.read_bytes() == before


@pytest.mark.parametrize("file", ["recording.json", "demonstration.json", "processed.json"])
def test_a_file_of_a_newer_version_is_named_with_what_to_do(kept, file):
    path = kept / file
    content = json.loads(path.read_bytes())
    newest = VERSIONS[content["format"]]
    path.write_text(json.dumps(content | {"version": newest + 1}))
    if file == "processed.json":
        with pytest.raises(InputError, match="field version: 2 is newer .* pass --chat and --video as before"):
            refresh(kept)  # it may have been processed with a chat, which must not go without a word
        assert refresh(kept, without=("chat", "video"))[1]
        return
    [problem] = verify(kept)
    assert re.fullmatch(re.escape(str(path)) + rf": field version: {newest + 1} is newer than this demotape supports "
                        rf"\(demotape/\w+ up to version {newest}\); update demotape", problem)


def test_digests_of_earlier_recordings_and_packages_are_ignored(kept, tmp_path):
    weak = [{"length": 9, "sum": 17, "digest": "0" * 32}]
    manifest = json.loads((kept / "recording.json").read_bytes()) | {"secret_digests": weak}
    (kept / "recording.json").write_text(json.dumps(manifest))
    assert "secret_digests" not in Recording(kept).manifest and secret_digests_of([Recording(kept)]) == ()
    (kept / "recording.json").write_text(json.dumps(manifest | {"version": 2}))
    with pytest.raises(InputError, match="field secret_digests"):
        Recording(kept)

    def older(entries):
        entries["manifest.json"] = json.dumps(json.loads(entries["manifest.json"]) | {"secret_digests": weak}).encode()
    assert receive(rewritten(Path(shutil.copy(V1 / "package.zip", tmp_path)), older), tmp_path / "received") == []
    assert "secret_digests" not in Recording(tmp_path / "received").manifest


def test_a_package_and_an_export_of_a_newer_version_are_named(tmp_path):
    def newer(entries):
        entries["manifest.json"] = entries["manifest.json"].replace(b'"version":1', b'"version":7')
    package = rewritten(Path(shutil.copy(V1 / "package.zip", tmp_path)), newer)
    with pytest.raises(InputError, match="package.zip: manifest.json: field version: 7 is newer"):
        receive(package, tmp_path / "received")
    manifest = shutil.copytree(V1 / "export", tmp_path / "export") / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"version": 1', '"version": 7'))
    [problem] = verify(tmp_path / "export")
    assert "field version: 7 is newer" in problem


@pytest.mark.parametrize(("change", "words"), [
    ({"version": None}, "field version: Field may not be null"), ({"version": "1"}, "field version: Not a valid"),
    ({"version": 0}, "field version: Must be equal to 2"), ({"version": True}, "field version"),
    ({"format": "demotape/other", "version": 9}, "field format: Must be equal to demotape/recording"),
])
def test_a_file_without_a_usable_version_is_refused_by_field(kept, change, words):
    manifest = json.loads((kept / "recording.json").read_bytes())
    (kept / "recording.json").write_text(json.dumps(manifest | change))
    with pytest.raises(InputError, match=words):
        Recording(kept)


def test_a_broken_old_file_is_named_when_a_step_cannot_make_it(version_2, kept):
    events = kept / "events.jsonl"
    demonstration = json.loads((kept / "demonstration.json").read_bytes())
    for turns in (None, [1], [{"state": {"animations": 1}, "type": "browser"}]):
        (kept / "demonstration.json").write_text(json.dumps(demonstration | {"turns": turns}))
        [problem] = verify(kept)
        assert problem.startswith(f"{kept / 'demonstration.json'}: ") and "\n" not in problem
    events.write_text("[1]\n")
    with pytest.raises(InputError, match="line 1: Invalid input"):
        list(Recording(kept).raw_events())


def test_steps_run_one_after_the_other_from_the_version_on(monkeypatch):
    monkeypatch.setitem(VERSIONS, "demotape/recording", 4)
    for number in (1, 3):  # version 2 to 3 changed nothing in events
        monkeypatch.setitem(STEPS["event"], number, lambda event, number=number: event | {"seen": [*event["seen"],
                                                                                                    number]})
    made = [upgrade({"seen": []}, "event", version, "x") for version in (1, 2, 3, 4)]
    assert made == [{"seen": [1, 3]}, {"seen": [3]}, {"seen": [3]}, {"seen": []}]
    assert upgrade({"format": "demotape/recording", "version": 2}, "recording", 2, "x")["version"] == 4


def test_every_format_in_the_documents_has_its_version_and_what_is_of_it():
    documents = {name: (ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("format.md", "export.md")}
    listed = dict(re.findall(r"^\| `(demotape/\w+)` \| (\d+) \|", documents["format.md"], flags=re.M))
    assert {name: int(version) for name, version in listed.items()} == VERSIONS
    assert set(re.findall(r"`(demotape/\w+)`", "".join(documents.values()))) == set(VERSIONS)
    packing = (ROOT / "extension" / "offscreen" / "packing.js").read_text(encoding="utf-8")
    assert f'FORMAT = "demotape/package", VERSION = {VERSIONS["demotape/package"]};' in packing


def test_every_schema_with_a_version_is_of_a_piece_and_every_piece_has_steps():
    heads = {schema.piece for schema in (*SCHEMAS.values(), ManifestSchema) if "version" in schema._declared_fields
             and "format" in schema._declared_fields}
    assert heads == HEADS
    assert {schema.piece for schema in (*SCHEMAS.values(), ManifestSchema)} - {""} == PIECES.keys() == STEPS.keys()
    assert PIECES.keys() >= HEADS and set(PIECES.values()) == set(VERSIONS)
    for piece, format in PIECES.items():
        assert all(1 <= number < VERSIONS[format] for number in STEPS[piece]), piece


def test_files_of_every_version_of_a_recording_are_kept():
    kept = {json.loads((folder / "kept" / "recording.json").read_bytes())["version"] for folder in DATA.glob("v*")}
    assert kept == set(range(1, VERSIONS["demotape/recording"] + 1))
