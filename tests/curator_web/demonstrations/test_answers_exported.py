"""Answers in exports: of everybody, under pseudonyms, to the questions in force, with personal data taken out."""

import json
import tarfile

import pyarrow.parquet
import pytest

from curator_web.demonstrations.library.export_sources import exportable
from curator_web.demonstrations.schemes import versions
from curator_web.demonstrations.workflow.answering import answer
from curator_web.demonstrations.workflow.pairing import choose
from pipeline.export import export
from schemas import DemonstrationSchema
from tests.support.curator.team_fixtures import ANN, BOB, LEA, VAL

from .test_answers import SCHEME, asking, say
from .test_workflow import app, db, fill, go

__all__ = ["app", "asking", "db", "fill"]


@pytest.fixture
def answered(db, asking):  # noqa: F811
    """A pair with answers of both annotators, and one of the validator."""
    choose(db, ["rec-1"], LEA)
    for account, name, value in ((ANN, "rec-1", 2), (BOB, "rec-1~2", 5)):
        say(db, account, "success", "failed", name)
        say(db, account, "causes", ["a"], name)
        say(db, account, "clear", value, name, "t3")
        say(db, account, "clear", value, name, "t4")
        say(db, account, "note", "Ask lea@shop.example", name)
        say(db, account, "success", "done", name)  # the causes are not asked any more
        go(db, "submitted", account, demonstration_id=name)


def exported(app, db, folder, format: str = "parquet") -> list[dict]:  # noqa: F811
    export(exportable(db, app.extensions["demotape"].store), folder, format)
    if format == "parquet":
        tables = [pyarrow.parquet.read_table(path) for path in sorted(folder.rglob("*.parquet"))]
        rows = [line for table in tables for line in table.to_pylist()]
    else:
        rows = []
        for path in sorted(folder.rglob("*.tar")):
            with tarfile.open(path) as tar:
                rows += [json.load(tar.extractfile(member)) for member in tar if member.name.endswith(".json")]
    return [line for line in rows if line["demonstration"] == "rec-1"]


def source_of(app, db):  # noqa: F811
    return next(each for each in exportable(db, app.extensions["demotape"].store) if each.id == "rec-1")


@pytest.mark.parametrize("format", ["parquet", "webdataset"])
def test_rows_have_the_answers_about_their_turn_and_the_demonstration(app, db, answered, tmp_path, format):  # noqa: F811
    rows = {line["turn"]: json.loads(line["answers"]) for line in exported(app, db, tmp_path / "out", format)}
    assert [(each["question"], each["value"], each.get("turn")) for each in rows["t3"]] == [
        ("success", "done", None), ("note", "Ask [REDACTED]", None), ("clear", 2, "t3"),
        ("success", "done", None), ("note", "Ask [REDACTED]", None), ("clear", 5, "t3")]
    people = {each["annotator"] for each in rows["t3"]}
    assert len(people) == 2 and all(name.startswith("reviewer-") for name in people)
    assert all(each["independent"] and each["scheme"] == 1 for each in rows["t3"])
    assert [each["question"] for each in rows["t1"]] == ["success", "note"] * 2
    assert b"lea@shop" not in b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())


def test_only_what_is_asked_now_is_exported(app, db, answered, tmp_path):  # noqa: F811
    versions.save(db, SCHEME.replace("name: note", "name: comment"), LEA)
    source = source_of(app, db)
    assert {each["question"] for each in source.demonstration["answers"]} == {"success", "clear"}
    DemonstrationSchema().load(source.demonstration)
    before = source.sha256
    say(db, VAL, "clear", 1, "rec-1", "t4")
    assert source_of(app, db).sha256 != before  # so that an export that is repeated contains it
    versions.save(db, "questions: []", LEA)
    assert "answers" not in source_of(app, db).demonstration


def test_answers_of_a_reviewer_are_not_independent(app, db, asking):  # noqa: F811
    say(db, ANN, "success", "done")
    go(db, "submitted", ANN)
    answer(db, "rec-1", [{"question": "success", "value": "failed"}], VAL)
    source = source_of(app, db)
    assert sorted((each["value"], each["independent"]) for each in source.demonstration["answers"]) == [
        ("done", True), ("failed", False)]
