"""Releases that follow each other and are never replaced, and what differs between two exports."""

import json
import os
from collections import Counter
from dataclasses import replace

import pytest
from click.testing import CliRunner

from demotape.cli import main
from pipeline.export import ReviewState, Rule, differences, export, read_export
from schemas import InputError
from tests.pipeline.export.test_sharding import SIZES, edited, files_of, made, many, shards_of  # noqa: F401
from tests.support.services.s3_services import BUCKET, KEYS, Proxy

SHARDED = {"format": "webdataset", "shard_size": SIZES["webdataset"]}


def test_a_release_names_the_one_before_and_shares_its_shards(tmp_path, many, made):  # noqa: F811
    export(many[:11], tmp_path, release="v1", **SHARDED)
    made.clear()
    export(many, tmp_path, release="v2", **SHARDED)
    assert made == ["demo-11"]
    one, other = (read_export(tmp_path / name) for name in ("v1", "v2"))
    assert (one["release"], one.get("previous")) == ("v1", None)
    assert (other["release"], other["previous"]) == ("v2", "v1")
    assert len({*shards_of(tmp_path / "v1").items()} & {*shards_of(tmp_path / "v2").items()}) >= 3
    export(many, tmp_path / "fresh", **SHARDED)
    assert {name: digest for name, digest in files_of(tmp_path / "v2").items() if name != "manifest.json"} == {
        name: digest for name, digest in files_of(tmp_path / "fresh").items() if name != "manifest.json"}


def test_a_release_is_never_replaced(tmp_path, many):  # noqa: F811
    export(many[:2], tmp_path, "webdataset", release="v1")
    before = files_of(tmp_path)
    with pytest.raises(InputError, match="v1: this release already exists"):
        export(many[:3], tmp_path, "webdataset", release="v1")
    for name in ("../v2", "", "a/b", ".hidden", "x" * 65, "v1\n"):
        if name:
            with pytest.raises(InputError, match="--release"):
                export(many[:3], tmp_path, "webdataset", release=name)
    assert files_of(tmp_path) == before


def test_a_release_in_s3_is_copied_by_the_service(tmp_path, many, motos, monkeypatch):  # noqa: F811
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in (("AWS_ACCESS_KEY_ID", KEYS[0]), ("AWS_SECRET_ACCESS_KEY", KEYS[1]),
                        ("AWS_DEFAULT_REGION", "us-east-1"), ("AWS_EC2_METADATA_DISABLED", "true")):
        monkeypatch.setenv(name, value)
    root = f"s3://{BUCKET}/releases"
    export(many[:11], root, release="v1", endpoint_url=motos, **SHARDED)
    with Proxy(motos) as proxy:
        summary = export(many, root, release="v2", endpoint_url=proxy.url, **SHARDED)
    assert summary.skipped >= 3
    with pytest.raises(InputError, match="v2: this release already exists"):
        export(many, root, release="v2", endpoint_url=motos, **SHARDED)
    assert CliRunner().invoke(main, ["check", f"{root}/v2", "--endpoint-url", motos]).exit_code == 0
    result = CliRunner().invoke(main, ["diff", f"{root}/v1", f"{root}/v2", "--endpoint-url", motos, "--json"])
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["demo-11"]


def test_what_differs_is_told_by_reason(tmp_path, many):  # noqa: F811
    changed = list(many)
    del changed[0]
    changed[0] = edited(many[1])
    turns = [dict(turn, dropped=turn["id"] == "t2") for turn in many[2].demonstration["turns"]]
    changed[1] = replace(many[2], demonstration=many[2].demonstration | {"turns": turns})
    changed[2] = replace(many[3], review=ReviewState("approved", ("reviewer-1",), "reviewer-2"))
    changed.append(replace(many[0], demonstration=many[0].demonstration | {"id": "demo-new"}))
    for name, sources in (("one", many), ("other", changed)):
        export(sources, tmp_path / name, "webdataset")
    found = {each.id: each for each in differences(*(read_export(tmp_path / name) for name in ("one", "other")))}
    count = len(many[0].turns)
    assert {name: each.kind for name, each in found.items()} == {
        "demo-0": "removed", "demo-new": "added", "demo-1": "changed", "demo-2": "changed", "demo-3": "changed"}
    assert found["demo-1"].reasons == ("its turns were processed or edited again",)
    assert found["demo-1"].turns == Counter(changed=count)
    assert found["demo-2"].turns["removed"] == 1
    assert found["demo-3"].reasons == ("its review or recording, the options or the version changed",)
    result = CliRunner().invoke(main, ["diff", str(tmp_path / "one"), str(tmp_path / "other")])
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-2] == "demonstrations: 1 added, 1 removed, 3 changed, 8 unchanged"
    assert CliRunner().invoke(main, ["diff", str(tmp_path / "one"), str(tmp_path)]).exit_code != 0


def test_who_is_moved_to_another_split_is_told(tmp_path, many):  # noqa: F811
    tasks = [replace(each, demonstration=each.demonstration | {"task": f"Task {each.id}"}) for each in many]
    export(tasks, tmp_path / "one", "parquet")
    export(tasks, tmp_path / "other", "parquet", rule=Rule(valid=0.5))
    found = [*differences(*(read_export(tmp_path / name) for name in ("one", "other")))]
    assert 0 < len(found) < len(tasks)
    assert {each.reasons for each in found} == {("moved from train to valid",)}
    assert not any(each.turns for each in found)


@pytest.mark.parametrize("format", ["weblinx", "chat"])
def test_formats_without_shards_tell_what_they_can(tmp_path, many, format):  # noqa: F811
    export(many[:3], tmp_path / "one", format)
    export([edited(many[0]), *many[1:3]], tmp_path / "other", format)
    [found] = differences(*(read_export(tmp_path / name) for name in ("one", "other")))
    assert (found.id, found.reasons) == ("demo-0", ("its turns were processed or edited again",))
