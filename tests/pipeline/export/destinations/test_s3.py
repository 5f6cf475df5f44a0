"""Exports to S3, for real over HTTP: the same bytes as in a folder, resumed after any kill, never half."""

import json
import multiprocessing
import os
import random
import threading
from pathlib import Path

import cv2
import numpy
import pytest

from pipeline.export import FORMATS, Source, export
from pipeline.export.destinations import s3_claim, s3_objects
from pipeline.verify import verify
from recorder import Recording
from recorder.writer import RecordingWriter
from schemas import DemotapeError, InputError
from tests.support.samples.recording_fixtures import STARTED_AT, make_demonstration, write_recording
from tests.support.services.s3_services import BUCKET, KEYS, Proxy, client, moto_with_users, objects, s3rver

KILLS, ALL_KILLS = 2, 10  # of each of two formats: in `make test`, in `make test-all`


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("recordings")
    recordings = [write_recording(root / name) for name in ("rec-a", "rec-b")]
    return [Source(make_demonstration(recording), recording) for recording in recordings]


@pytest.fixture(scope="module")
def noisy(tmp_path_factory) -> list[Source]:
    """A demonstration whose pictures cannot be compressed: a shard of it is sent in several parts."""
    path = tmp_path_factory.mktemp("noisy") / "noisy"
    template = write_recording(path.parent / "template")
    demonstration = make_demonstration(template)
    writer = RecordingWriter(path, {
        "format": "demotape/recording", "version": 1, "id": "noisy", "task": "x", "started_at": STARTED_AT,
        "user_agent": "", "browser": "", "viewport": None, "options": {}})
    noise = numpy.random.default_rng(1).integers(0, 255, (900, 1200, 3), numpy.uint8)
    for turn in demonstration["turns"]:
        if turn.get("state"):
            for name in ("dom", "elements"):
                writer.blob(template.blob(turn["state"][name]))
            turn["state"] = turn["state"] | {"screenshot": writer.blob(cv2.imencode(".jpg", noise)[1].tobytes())}
    writer.close(STARTED_AT)
    return [Source(demonstration | {"id": "noisy", "recording": "noisy"}, Recording(path))]


@pytest.fixture(autouse=True)
def credentials(monkeypatch):
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in (("AWS_ACCESS_KEY_ID", KEYS[0]), ("AWS_SECRET_ACCESS_KEY", KEYS[1]),
                        ("AWS_DEFAULT_REGION", "us-east-1"), ("AWS_EC2_METADATA_DISABLED", "true")):
        monkeypatch.setenv(name, value)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nonexistent")


def content(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def address(name: str) -> str:
    return f"s3://{BUCKET}/{name}"


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_bytes_as_in_a_folder(tmp_path, sources, service, format):
    export(sources, tmp_path / "out", format)
    summary = export(sources, address(f"same-{format}/"), format, endpoint_url=service)
    assert objects(service, f"same-{format}/") == content(tmp_path / "out")
    assert verify(address(f"same-{format}"), service) == []
    assert (summary.demonstrations, summary.skipped) == (2, 0)


def test_run_again_unchanged_it_does_nothing(sources, noisy, service):
    for name, given, format in (("again-a", sources, "weblinx"), ("again-b", noisy, "webdataset")):
        export(given, address(name), format, endpoint_url=service)
        with Proxy(service) as proxy:
            summary = export(given, address(name), format, endpoint_url=proxy.url)
            assert proxy.writes() == []
            assert summary.skipped == summary.files


def test_what_changed_is_sent_and_what_is_gone_is_taken_away(tmp_path, sources, service):
    export(sources, address("changed"), "weblinx", endpoint_url=service)
    client(service).put_object(Bucket=BUCKET, Key="changed-not/x", Body=b"mine")
    with Proxy(service) as proxy:
        export(sources[:1], address("changed"), "weblinx", endpoint_url=proxy.url)
        sent = [name for method, name, _ in proxy.writes() if method == "PUT"]
    assert sorted(sent) == ["changed/README.md", *(f"changed/{name}.json" for name in (
        "croissant", "incomplete", "manifest", "splits"))]
    assert sent[0] == "changed/incomplete.json" and sent[-1] == "changed/manifest.json"
    export(sources[:1], tmp_path / "out", "weblinx")
    assert objects(service, "changed/") == content(tmp_path / "out")
    assert objects(service, "changed-not/") == {"x": b"mine"}


def test_one_more_demonstration_sends_its_shard_or_that_ones_halves(tmp_path, sources, service):
    many = [Source(sources[0].demonstration | {"id": f"demo-{number}"}, sources[0].recording) for number in range(12)]
    for count in range(8, 13):
        with Proxy(service) as proxy:
            export(many[:count], address("more"), "webdataset", endpoint_url=proxy.url, shard_size=900_000)
        sent = [name for method, name, _ in proxy.writes() if method == "PUT" and name.endswith(".tar")]
        assert count == 8 or 1 <= len(sent) <= 2
        export(many[:count], tmp_path / str(count), "webdataset", shard_size=900_000)
        assert objects(service, "more/") == content(tmp_path / str(count))


def test_a_large_shard_goes_in_parts_and_the_manifest_last(noisy, service):
    with Proxy(service) as proxy:
        export(noisy, address("parts"), "webdataset", endpoint_url=proxy.url)
        writes = proxy.writes()
    parts = [int(part) for _, name, part in writes if name == "parts/train-000000.tar" and part]
    assert sorted(parts) == list(range(1, len(parts) + 1)) and len(parts) >= 2
    assert [name for _, name, _ in writes[-2:]] == ["parts/manifest.json", "parts/incomplete.json"]
    assert writes[-1][0] == "DELETE"
    assert verify(address("parts"), service) == []


def run_export(given, where, format, endpoint_url, go):
    """In a process of its own, which will be killed."""
    go.wait()
    export(given, where, format, endpoint_url=endpoint_url)


@pytest.mark.parametrize("format", ["weblinx", "webdataset"])
def test_killed_at_any_byte_it_goes_on_and_sends_nothing_twice(tmp_path, sources, noisy, motos, format, pytestconfig):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.pipeline.export.destinations.test_s3"])
    given = noisy if format == "webdataset" else sources
    export(given, tmp_path / "out", format)
    wanted, random_ = content(tmp_path / "out"), random.Random(7)
    total = sum(map(len, wanted.values()))
    for number in range(ALL_KILLS if pytestconfig.option.all else KILLS):
        name = f"killed-{format}-{number}"
        with Proxy(motos, kill_at=random_.randrange(total)) as proxy:
            go = context.Event()
            process = context.Process(target=run_export, args=(given, address(name), format, proxy.url, go))
            process.start()
            proxy.victim = process.pid
            go.set()
            process.join()
            assert process.exitcode == -9
        left = objects(motos, f"{name}/")
        assert "manifest.json" not in left or left.items() >= wanted.items()
        with Proxy(motos) as second:
            export(given, address(name), format, endpoint_url=second.url)
        assert objects(motos, f"{name}/") == wanted
        assert not client(motos).list_multipart_uploads(Bucket=BUCKET).get("Uploads")
        sent = [entry for entry in proxy.writes() + second.writes()
                if entry[0] == "PUT" and not entry[1].endswith("/incomplete.json")]
        assert len(sent) == len(set(sent))


def export_and_wait(given, where, endpoint_url, begun, go):
    """In a process of its own: stands still when its first demonstration is written."""
    def step(name):
        begun.set()
        go.wait()
    export(given, where, "weblinx", step, endpoint_url=endpoint_url)


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("kind", ["folder", "s3"])
def test_two_exports_at_once_are_kept_apart(tmp_path, sources, service, kind, killed):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.pipeline.export.destinations.test_s3"])
    begun, go, sent = context.Event(), context.Event(), threading.Event()
    where = address(f"apart-{killed}") if kind == "s3" else str(tmp_path / "out")

    def watch(method, name):
        if method == "PUT" and not name.endswith("incomplete.json"):
            sent.set()

    export(sources, tmp_path / "wanted", "weblinx")
    with Proxy(service, answer=watch) as proxy:
        endpoint = proxy.url if kind == "s3" else None
        process = context.Process(target=export_and_wait, args=(sources, where, endpoint, begun, go))
        process.start()
        assert begun.wait(60) and (kind == "folder" or sent.wait(60))
        with pytest.raises(InputError, match="another export is writing to it; wait until it ends"):
            export(sources[:1], where, "weblinx", endpoint_url=endpoint)
        if killed:
            process.kill()
        else:
            go.set()
        process.join()
        assert process.exitcode == (-9 if killed else 0)
    if killed:
        export(sources, where, "weblinx", endpoint_url=service if kind == "s3" else None)
    found = objects(service, f"apart-{killed}/") if kind == "s3" else content(tmp_path / "out")
    assert found == content(tmp_path / "wanted")


def test_an_export_elsewhere_counts_until_its_lease_ends(monkeypatch, sources, service):
    other = json.dumps({"format": "demotape/incomplete-export", "owner": {
        "token": "x", "machine": "another", "process": 1}}).encode()
    client(service).put_object(Bucket=BUCKET, Key="elsewhere/incomplete.json", Body=other)
    with pytest.raises(InputError, match="another export is writing to it"):
        export(sources, address("elsewhere"), "weblinx", endpoint_url=service)
    monkeypatch.setattr(s3_claim, "LEASE", -1)
    export(sources, address("elsewhere"), "weblinx", endpoint_url=service)
    assert verify(address("elsewhere"), service) == []


@pytest.mark.parametrize("moment", ["before the first change", "before the manifest"])
def test_whom_another_overtakes_gives_up(sources, service, moment):
    name = f"overtaken-{moment[-8:]}"

    def overtake(demonstration):
        first = demonstration == "rec-a" and moment == "before the first change"
        if first or (demonstration == "rec-b" and moment == "before the manifest"):
            client(service).put_object(Bucket=BUCKET, Key=f"{name}/incomplete.json", Body=json.dumps({
                "format": "demotape/incomplete-export",
                "owner": {"token": "x", "machine": "another", "process": 1}}).encode())

    format = "webdataset" if moment == "before the first change" else "weblinx"  # small tars are sent at the end
    with pytest.raises(InputError, match="another export is writing to it"):
        export(sources, address(name), format, overtake, endpoint_url=service)
    assert "manifest.json" not in objects(service, f"{name}/")


@pytest.mark.parametrize("given, format", [("sources", "weblinx"), ("noisy", "webdataset")])
def test_a_busy_service_is_waited_for(request, service, given, format):
    met: set[tuple[str, str]] = set()

    def busy_once(method, name):
        with proxy.lock:
            if method == "GET" or random_.random() > 0.3 or (method, name) in met:
                return None
            met.add((method, name))
        return 503

    random_ = random.Random(3)
    with Proxy(service, answer=busy_once) as proxy:
        export(request.getfixturevalue(given), address(f"busy-{format}"), format, endpoint_url=proxy.url)
    assert met and verify(address(f"busy-{format}"), service) == []


def test_a_service_that_stays_busy_is_told_and_there_is_no_manifest(monkeypatch, sources, service):
    monkeypatch.setattr(s3_objects, "ATTEMPTS", 2)
    with (Proxy(service, answer=lambda method, name: 503 if "replay" in name else None) as proxy,
          pytest.raises(DemotapeError, match=r"s3://shelf/tired/.*replay.json: the S3 service responds with SlowDown")):
        export(sources, address("tired"), "weblinx", endpoint_url=proxy.url)
    assert "manifest.json" not in objects(service, "tired/")
    assert verify(address("tired"), service) == [f"{address('tired')}: an export was interrupted here; "
                                                 "run it again to complete it"]
    export(sources, address("tired"), "weblinx", endpoint_url=service)
    assert verify(address("tired"), service) == []
    with (Proxy(service, answer=lambda method, name: 503 if "replay" in name else None) as proxy,
          pytest.raises(DemotapeError, match=r"after retries; run the check again$")):
        verify(address("tired"), proxy.url)


def flipped(body: bytes) -> bytes:
    return body[:len(body) // 2] + bytes([body[len(body) // 2] ^ 1]) + body[len(body) // 2 + 1:]


def test_what_is_damaged_on_the_way_is_sent_again(noisy, service):
    damaged: set[tuple[str, str]] = set()

    def damage_once(method, name, body):
        with proxy.lock:
            if method != "PUT" or not name.endswith(".tar") or len(damaged) > 1 or (name, len(body)) in damaged:
                return body
            damaged.add((name, len(body)))
        return flipped(body)

    with Proxy(service, change=damage_once, checks=True) as proxy:
        export(noisy, address("damaged"), "webdataset", endpoint_url=proxy.url)
    assert damaged and verify(address("damaged"), service) == []


def test_damage_that_the_service_does_not_see(noisy, service):
    """moto says that it keeps a part's CRC-32 without looking at it; s3rver knows of none, so the MD5 tells at once."""
    bodies: list[int] = []

    def damage_late(method, name, body):
        with proxy.lock:
            if method == "PUT" and name.endswith(".tar"):
                bodies.append(len(body))
                return flipped(body) if len(bodies) == 12 else body
        return body

    several = [Source(noisy[0].demonstration | {"id": f"noisy-{number}"}, noisy[0].recording) for number in range(4)]
    told = ""
    with Proxy(service, change=damage_late) as proxy:
        try:
            export(several, address("unseen"), "webdataset", endpoint_url=proxy.url)
        except DemotapeError as error:
            told = str(error)
    assert ("differ from those sent" in told) == ("manifest.json" not in objects(service, "unseen/"))
    if told:
        export(several, address("unseen"), "webdataset", endpoint_url=service)
    assert verify(address("unseen"), service) == []


def test_what_is_always_damaged_is_told(monkeypatch, noisy, service):
    monkeypatch.setattr(s3_objects, "ATTEMPTS", 2)

    def damage(method, name, body):
        return flipped(body) if method == "PUT" and name.endswith(".tar") else body

    with (Proxy(service, change=damage) as proxy, pytest.raises(DemotapeError, match="during transfer 2 times")):
        export(noisy, address("broken"), "webdataset", endpoint_url=proxy.url)
    assert "manifest.json" not in objects(service, "broken/")


def test_check_finds_what_is_wrong(sources, service):
    export(sources, address("wrong"), "weblinx", endpoint_url=service)
    s3 = client(service)
    manifest = json.loads(objects(service, "wrong/")["manifest.json"])
    paths = [entry["path"] for entry in manifest["files"]]
    whole = objects(service, "wrong/")
    s3.delete_object(Bucket=BUCKET, Key=f"wrong/{paths[0]}")
    s3.put_object(Bucket=BUCKET, Key=f"wrong/{paths[1]}", Body=flipped(whole[paths[1]]))
    s3.put_object(Bucket=BUCKET, Key=f"wrong/{paths[2]}", Body=b"")
    s3.put_object(Bucket=BUCKET, Key="wrong/notes.txt", Body=b"mine")
    assert [problem.removeprefix(address("wrong/")) for problem in verify(address("wrong"), service)] == [
        f"{paths[0]}: missing", f"{paths[1]}: damaged, its SHA-256 is not the manifest's",
        f"{paths[2]}: 0 bytes instead of {len(whole[paths[2]])}", "notes.txt: not part of the export"]
    with pytest.raises(InputError, match="notes.txt: not part of the export"):
        export(sources, address("wrong"), "weblinx", endpoint_url=service)


def test_what_is_not_ours_is_left_alone(sources, service):
    client(service).put_object(Bucket=BUCKET, Key="mine/photo.jpg", Body=b"mine")
    with pytest.raises(InputError, match="not an export of demotape"):
        export(sources, address("mine"), "weblinx", endpoint_url=service)
    with pytest.raises(InputError, match="no export found"):
        verify(address("mine"), service)
    assert objects(service, "mine/") == {"photo.jpg": b"mine"}


def test_clear_errors(monkeypatch, tmp_path, sources, service):
    def refused(match, where="s3://shelf/x", endpoint_url=service):
        with pytest.raises(InputError, match=match):
            export(sources, where, "weblinx", endpoint_url=endpoint_url)

    refused("unknown bucket", "s3://no-such-bucket/x")
    refused("not an address of the form s3://bucket/prefix", "s3://UPPER/x")
    refused("not an address of the form", "s3:/shelf/x")
    refused("--endpoint-url requires", tmp_path / "out")
    refused("Invalid endpoint", endpoint_url="nonsense")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    refused("no S3 credentials")


def test_a_service_that_is_away(monkeypatch, sources):
    monkeypatch.setattr(s3_objects, "ATTEMPTS", 1)
    with pytest.raises(DemotapeError, match="does not respond"):
        export(sources, address("x"), "weblinx", endpoint_url="http://127.0.0.1:9")


def test_an_unknown_key(monkeypatch, tmp_path, sources):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "WRONG")
    with s3rver(tmp_path) as url:
        with pytest.raises(InputError, match="rejects the credentials .*InvalidAccessKeyId"):
            export(sources, address("x"), "weblinx", endpoint_url=url)
        assert objects(url) == {}


def test_a_wrong_secret_and_a_key_that_may_not(monkeypatch, sources):
    with moto_with_users() as (url, writer, reader):
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", writer[0])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        with pytest.raises(InputError, match="rejects the credentials .*SignatureDoesNotMatch"):
            export(sources, address("x"), "weblinx", endpoint_url=url)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", writer[1])
        export(sources, address("x"), "weblinx", endpoint_url=url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", reader[0])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", reader[1])
        assert verify(address("x"), url) == []
        with pytest.raises(InputError, match="the credentials do not allow PutObject"):
            export(sources, address("y"), "weblinx", endpoint_url=url)
