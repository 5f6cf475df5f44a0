"""README.md and croissant.json of every format: what they say is in the export, and nothing that is not known.

`python -m benchmarks.loaders` has mlcroissant validate and load them.
"""

import hashlib
import json
import re
import tarfile
from fnmatch import fnmatchcase

import pytest

from pipeline.export import FORMATS, Rule, Source, export
from pipeline.export.formats.croissant import VERSION, split_in
from pipeline.export.manifest import read_manifest
from tests.support.samples.recording_fixtures import make_demonstration, write_recording

TOLD = {"actor": "agent", "agent": "walker 1.0", "consent": True, "license": "CC-BY-4.0"}
RULE = Rule(demonstrations={"rec-b": {"category": "Shopping"}}, held_out={"test_cat": ["Shopping"]})


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("documents")
    recordings = [write_recording(root / name, provenance=TOLD) for name in ("rec-a", "rec-b")]
    return [Source(make_demonstration(recording), recording) for recording in recordings]


@pytest.fixture(scope="module", params=FORMATS)
def out(request, sources, tmp_path_factory):
    folder = tmp_path_factory.mktemp("out") / request.param
    more = {"candidates": True, "records": True} if request.param == "weblinx" else {}
    export(sources, folder, request.param, set_of_marks=True, rule=RULE, **more)
    return folder


def document(folder) -> dict:
    return json.loads((folder / "croissant.json").read_bytes())


def members(folder) -> dict[str, list[str]]:
    """Names of what is in each tar, by its path."""
    found = {}
    for path in folder.rglob("*.tar"):
        with tarfile.open(path) as tar:
            found[path.relative_to(folder).as_posix()] = tar.getnames()
    return found


def test_every_file_that_is_told_is_there(out):
    told, manifest = document(out), read_manifest(out)
    assert told["conformsTo"] == VERSION
    assert {"croissant.json", "README.md"} <= {file["path"] for file in manifest["files"]}
    known = {file["path"]: (file["sha256"], f"{file['size']} B") for file in manifest["files"]}
    objects = [each for each in told["distribution"] if each["@type"] == "cr:FileObject"]
    assert objects == sorted(objects, key=lambda each: each["contentUrl"])
    for each in objects:
        assert known[each["contentUrl"]] == (each["sha256"], each["contentSize"])
        assert hashlib.sha256((out / each["contentUrl"]).read_bytes()).hexdigest() == each["sha256"]
    assert {path for path in known if path.endswith((".parquet", ".tar", ".jsonl")) or path.startswith("data/")} <= {
        each["contentUrl"] for each in objects}
    inside = members(out)
    for each in told["distribution"]:
        if each["@type"] == "cr:FileSet":
            archives = [inside[archive["@id"]] for archive in each.get("containedIn", ())] or [known]
            assert all(any(fnmatchcase(path, pattern) for path in names for pattern in each["includes"])
                       for names in archives), each["@id"]


def test_every_file_of_the_data_is_in_a_file_set_or_listed(out):
    told = document(out)
    patterns = [pattern for each in told["distribution"] for pattern in each.get("includes", [each.get("contentUrl")])]
    described = {"README.md", "croissant.json"}
    for file in read_manifest(out)["files"]:
        assert file["path"] in described or any(fnmatchcase(file["path"], each) for each in patterns), file["path"]


def test_ids_are_unique_and_all_that_is_named_is_told(out):
    told = document(out)
    fields = [field for records in told["recordSet"] for field in records["field"]]
    ids = [each["@id"] for each in (*told["distribution"], *told["recordSet"], *fields)]
    assert len(ids) == len(set(ids)) and fields
    sources = [field["source"]["fileSet"]["@id"] for field in fields if "source" in field]
    keys = [key["@id"] for records in told["recordSet"] for key in (
        records["key"] if isinstance(records.get("key"), list) else [records["key"]] if "key" in records else [])]
    assert {*sources, *keys} <= {*ids}


def test_the_licence_that_all_tell_is_the_data_set_s(out, sources, tmp_path):
    assert document(out)["license"] == "https://spdx.org/licenses/CC-BY-4.0"
    other = write_recording(tmp_path / "rec-c", provenance={"license": "house rules"})
    one = Source(make_demonstration(other), other)
    export([one], tmp_path / "one", "parquet")
    export([one, sources[0]], tmp_path / "two", "parquet")
    assert document(tmp_path / "one")["license"] == "house rules" and "license" not in document(tmp_path / "two")


def test_the_card_says_what_is_known(out):
    text = (out / "README.md").read_text(encoding="utf-8")
    test = "test_domain" if "mind2web" in out.name else "test_cat"
    rows = "turns" if out.name in ("weblinx", "webdataset", "parquet", "atif", "adp", "agentnet") else "actions"
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    without_rows = "weblinx", "playwright", "atif", "adp"
    assert "license: cc-by-4.0" in head and ("configs:" in head) == (out.name not in without_rows)
    assert body.strip().startswith("# Demonstrations of web tasks\n\n2 demonstrations, ")
    manifest = read_manifest(out)
    assert f"2 demonstrations, {manifest['samples']} {rows}" in body
    assert "| agent walker 1.0 | 2 |" in body and "| given | 2 |" in body and "| CC-BY-4.0 | 2 |" in body
    splits = re.search(r"## Splits\n(.*?)\n## ", body, re.S)[1]
    turns = [each["turns"] for each in manifest["demonstrations"]]
    assert f"| train | 1 | {turns[0]} |" in splits and f"| {test} | 1 | {turns[1]} |" in splits
    counted = re.search(rf"## {rows.capitalize()} by (?:intent|operation)\n(.*?)\n## ", body, re.S)[1]
    assert sum(map(int, re.findall(r"\| (\d+) \|", counted))) == manifest["samples"]
    assert "| shop.example | 2 |" in body


def test_the_same_bytes_again(out, sources, tmp_path):
    more = {"candidates": True, "records": True} if out.name == "weblinx" else {}
    export(sources, tmp_path / "again", out.name, set_of_marks=True, rule=RULE, **more)
    for name in ("README.md", "croissant.json", "manifest.json"):
        assert (tmp_path / "again" / name).read_bytes() == (out / name).read_bytes()


@pytest.mark.parametrize("path, split", [
    ("data/train-00000-of-00001.parquet", "train"), ("data/test_web-1a.parquet", "test_web"), ("test_web", "test_web"),
    ("data/test_website-1.parquet", None), ("data/train/x-1.parquet", None)])
def test_the_split_is_told_by_the_path(path, split):
    found = re.match(split_in({name: f"data/{name}-*.parquet" for name in ("train", "test_web")}), path)
    assert (next(group for group in found.groups() if group) if found else None) == split
