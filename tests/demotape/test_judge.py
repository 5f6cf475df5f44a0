"""`demotape judge` against a server that answers from a table, and one that fails, stalls or talks nonsense."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from demotape.cli import main
from tests.support.curator.curator_fixtures import make_recording
from tests.support.services.model_server import Answer, model_server, said

HOSTILE = "\x1b[2J\u202eThe order stands there\nVERDICT: SUCCESS"


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    for name in ("DEMOTAPE_MODEL_URL", "DEMOTAPE_MODEL", "DEMOTAPE_MODEL_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("judged")
    return [make_recording(folder, recording_id=f"rec-{number}", task=f"Book flight {number}") for number in range(4)]


def judge(*arguments):
    return CliRunner().invoke(main, ["judge", *map(str, arguments)])


def from_table(answers: dict[str, Answer]):
    """Answers by the flight that the task names."""
    def choose(body):
        task = body["messages"][1]["content"][0]["text"].splitlines()[1]
        return answers.get(task.rpartition(" ")[2], answers.get("", Answer(404)))
    return choose


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_judges_beside_each_other_and_beside_people(tmp_path, recordings):
    used = {"prompt_tokens": 1000, "completion_tokens": 20}
    answers = {"0": said("Booked.\nVERDICT: SUCCESS", usage=used), "1": said("VERDICT: NOT SUCCESS", usage=used),
               "2": said("Ich sehe keinen Flug.", usage=used), "3": said("VERDICT: SUCCESS", usage=used)}
    labels = tmp_path / "labels.jsonl"
    labels.write_text("".join(json.dumps({"id": name, "success": good}) + "\n" for name, good in (
        ("rec-0", True), ("rec-1", False), ("rec-2", True), ("rec-3", False), ("rec-9", True))))
    with model_server(choose=from_table(answers)) as one, model_server(said(HOSTILE)) as other:
        given = (*recordings, "--model", f"kind={one.url}", "--model", f"yes={other.url}", "--labels", labels,
                 "--cache", tmp_path / "cache", "--out", tmp_path / "out.jsonl")
        done = judge(*given)
        assert done.exit_code == 0, done.output
        assert {body["temperature"] for _, _, body in one.got} == {0} and len(one.got) == len(other.got) == 4
        first = (tmp_path / "out.jsonl").read_bytes()
        again = judge(*given, "--json")
        assert again.exit_code == 0 and len(one.got) == len(other.got) == 4  # nothing is asked a second time
        assert (tmp_path / "out.jsonl").read_bytes() == first
    assert "note: 1 of 5 labels" in done.output and "\x1b" not in done.output and "\u202e" not in done.output
    table = {row.split()[0]: row.split() for row in done.output.splitlines() if row.startswith("  ")}
    assert table["kind"] == ["kind", "4", "50.0%", "0.20", *table["kind"][4:7], "1", "0", "1", "1", "1", "0"]
    assert table["yes"][:4] == ["yes", "4", "50.0%", "0.00"]
    assert ["kind", "4", "0", "2", "1", "1"] in [row.split()[:6] for row in done.output.splitlines()]
    assert "4,000          80" in done.output
    made = lines(tmp_path / "out.jsonl")
    assert [(each["id"], each["judge"], each["verdict"]) for each in made[:4]] == [
        ("rec-0", "kind", "success"), ("rec-0", "yes", "success"), ("rec-1", "kind", "failure"),
        ("rec-1", "yes", "success")]
    assert made[0]["reason"] == "Booked." and made[0]["prompt_tokens"] == 1000 and made[1]["prompt_tokens"] is None
    told = json.loads(again.stdout)
    assert told["judgements"] == made and told["judges"][0]["confusion"]["success"]["unknown"] == 1


def test_one_that_fails_is_told_and_a_second_run_asks_only_what_is_left(tmp_path, recordings):
    answers = {"0": said("VERDICT: SUCCESS"), "1": Answer(body=b"<html>"), "2": said("The price", "length"),
               "3": Answer(body=b'{"choices": [', headers={"content-length": "400"})}
    with model_server(choose=from_table(answers)) as server:
        given = (*recordings, tmp_path, recordings[0], "--model", f"kind={server.url}", "--cache", tmp_path / "cache",
                 "--out", tmp_path / "out.jsonl")
        done = judge(*given)
        assert done.exit_code == 1
        for told in ("rec-1: the model kind at", "rec-3: the model kind at", "not a chat completion",
                     "cut off at its token limit", "not a recording",
                     "1 of 5 recordings could not be judged; kind did not judge 3"):
            assert told in done.output, told
        assert [each["id"] for each in lines(tmp_path / "out.jsonl")] == ["rec-0"]
        answers |= dict.fromkeys("123", said("VERDICT: NOT SUCCESS"))
        server.got.clear()
        assert judge(*given).exit_code == 1 and len(server.got) == 3  # the folder is still no recording
    assert [each["verdict"] for each in lines(tmp_path / "out.jsonl")] == ["success", *["failure"] * 3]


def test_who_is_busy_is_asked_again_and_who_stalls_is_left(monkeypatch, recordings):
    monkeypatch.setattr("pipeline.judging.model_endpoint.PAUSES", (0.01, 0.01))
    with model_server(Answer(500), said("VERDICT: SUCCESS")) as server:
        done = judge(recordings[0], "--model", f"kind={server.url}")
        assert done.exit_code == 0 and "kind: success" in done.output and len(server.got) == 2
    with model_server(Answer(drip=0.05)) as server:
        done = judge(recordings[0], "--model", f"kind={server.url}", "--timeout", 0.3)
        assert done.exit_code == 1 and "no answer within 0.3 seconds" in done.output


def test_a_kept_answer_that_is_damaged_is_named(tmp_path, recordings):
    with model_server(said("VERDICT: SUCCESS")) as server:
        given = (recordings[0], "--model", f"kind={server.url}", "--cache", tmp_path)
        assert judge(*given).exit_code == 0
        [kept] = tmp_path.iterdir()
        for content in ('{"text": 1}', "[", "[]"):
            kept.write_text(content)
            done = judge(*given)
            assert done.exit_code == 1 and kept.name in done.output
        kept.unlink()
        kept.symlink_to("/etc/passwd")
        assert "is a link" in judge(*given).output
        assert len(server.got) == 1


def test_an_answer_of_ones_own_is_judged_instead(recordings):
    with model_server(said("VERDICT: SUCCESS")) as server:
        assert judge(recordings[0], "--model", f"m={server.url}", "--answer", "Flight 7", "--screenshots", 1
                     ).exit_code == 0
        text, *pictures = server.got[0][2]["messages"][1]["content"]
    assert "Flight 7" in text["text"] and "Done, which date?" not in text["text"] and len(pictures) == 1


def test_keys_go_to_their_own_endpoint_only(monkeypatch, recordings):
    with model_server(said("VERDICT: SUCCESS")) as one, model_server(said("VERDICT: SUCCESS")) as other:
        monkeypatch.setenv("DEMOTAPE_MODEL_KEY", "sk-one")
        monkeypatch.setenv("OTHER", "sk-other")
        both = (recordings[0], "--model", f"a={one.url}", "--model", f"b={other.url}")
        done = judge(*both)
        assert done.exit_code == 2 and "--key NAME=VARIABLE" in done.output and "sk-" not in done.output
        assert judge(*both, "--key", "b=OTHER").exit_code == 0
        assert judge(*both[:3], "--model", f"c={one.url}/x").exit_code == 0
        assert [headers["authorization"] for _, headers, _ in one.got] == ["Bearer sk-one"] * 3
        assert [headers["authorization"] for _, headers, _ in other.got] == ["Bearer sk-other"]
        monkeypatch.setenv("DEMOTAPE_MODEL_URL", one.url)
        assert judge(recordings[0], "--model", f"b={other.url}").exit_code == 2
        monkeypatch.setenv("DEMOTAPE_MODEL", "a")
        assert judge(recordings[0]).exit_code == 0 and len(one.got) == 4


@pytest.mark.parametrize("arguments, told", [
    ([], "no judge"), (["--model", "kind"], "NAME=URL"), (["--model", "kind=ftp://x/"], "http"),
    (["--model", "a=http://x/", "--model", "a=http://y/"], "the same name"),
    (["--key", "a=B"], "--key requires --model"),
    (["--model", "a=http://x/", "--key", "b=B"], "unknown judge"),
    (["--model", "a=http://x/", "--key", "a=NOT_SET"], "NOT_SET is not set"),
    (["--model", "a=http://x/", "--labels", "nowhere"], "nowhere"),
    (["--model", "a=http://x/", "--out", "."], "is a folder"),
    (["--sample", "2"], "--out"), (["--sample", "2", "--model", "a=http://x/"], "cannot be combined with --model")])
def test_what_is_given_wrongly_is_told_before_anything_is_sent(recordings, arguments, told):
    done = judge(recordings[0], *arguments)
    assert done.exit_code == 2 and told in done.output, done.output


def test_answer_goes_with_one_and_ids_are_of_one(tmp_path, recordings):
    assert "requires a single" in judge(*recordings, "--model", "a=http://x/", "--answer", "x").output
    twin = make_recording(tmp_path, recording_id="rec-0")
    with model_server(said("VERDICT: SUCCESS")) as server:
        done = judge(recordings[0], twin, "--model", f"a={server.url}")
        assert done.exit_code == 1 and "has the same id 'rec-0' as" in done.output and len(server.got) == 1


def test_a_sample_tells_no_verdict_and_stays(tmp_path, recordings):
    out = tmp_path / "sample.jsonl"
    done = judge(*recordings, "--sample", 2, "--seed", 3, "--out", out)
    assert done.exit_code == 0 and "2 of 4 recordings, of 1 website;" in done.output
    made = lines(out)
    assert [set(each) for each in made] == [{"id", "site", "task", "path", "success"}] * 2
    assert {(each["site"], each["success"]) for each in made} == {("air.example", None)}
    refused = judge(*recordings, "--sample", 3, "--out", out)
    assert refused.exit_code == 2 and "may contain labels" in refused.output and lines(out) == made
    over = judge(*recordings, "--model", "a=http://x/", "--labels", out, "--out", out)
    assert over.exit_code == 2 and "is not a file of judgements" in over.output and lines(out) == made
    twin = make_recording(tmp_path, recording_id="rec-0")
    assert "have the id 'rec-0'" in judge(*recordings, twin, "--sample", 3, "--out", tmp_path / "x").output
