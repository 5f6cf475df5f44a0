"""Scores of predictions, held against the public evaluation of WebLINX and worked examples of Mind2Web's."""

import json
import random
import re

import pytest
import weblinx
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from weblinx import eval as public
from weblinx.processing import outputs as public_outputs

from demotape.cli import main
from pipeline.evaluate import agreement, evaluate
from pipeline.evaluate import weblinx as ours
from pipeline.evaluate.metrics import token_f1, url_f1
from pipeline.evaluate.mind2web import step
from pipeline.evaluate.outputs import read_action
from pipeline.export import Rule, Source, export
from recorder import Recording
from recorder.writer import RecordingWriter
from schemas import InputError
from tests.support.samples.recording_fixtures import STARTED_AT, make_demonstration, write_recording

UIDS = re.compile(rb'((?:data-demotape-uid=|"uid": )(?:"|&quot;|&amp;quot;))')


def with_real_uids(recording: Recording) -> Source:
    """A source whose uids look like the recorder's: with a bare number the public evaluation finds no element."""
    demonstration = make_demonstration(recording)
    writer = RecordingWriter(recording.layout.root.parent / f"{recording.id}-real", {
        "format": "demotape/recording", "version": 1, "id": f"{recording.id}-real", "task": recording.task,
        "started_at": STARTED_AT, "user_agent": "", "browser": "", "viewport": None, "options": {}})
    text = re.sub(r'("uid": ")', r"\1k-", json.dumps(demonstration))
    text = re.sub(r'"frame": \["12"(?:, "f7")?\]', lambda found: re.sub(r'"(12|f7)"', r'"k-\1"', found[0]), text)
    for name in set(re.findall(r'"([0-9a-f]{64})"', text)):
        blob = recording.blob(name)
        if blob.startswith((b"<", b"[")):
            blob = UIDS.sub(rb"\1k-", blob)
            blob = re.sub(rb'"frame": \["12"(?:, "f7")?\]', lambda found: re.sub(
                rb'"(12|f7)"', rb'"k-\1"', found[0]), blob)
        text = text.replace(name, writer.blob(blob))
    writer.close(STARTED_AT)
    made = json.loads(text) | {"id": f"{recording.id}-real", "recording": f"{recording.id}-real"}
    return Source(made, Recording(recording.layout.root.parent / f"{recording.id}-real"))


RULE = Rule(demonstrations={"rec-b-real": {"region": "IN"}}, held_out={"test_geo": ["IN"]}, valid=1.0)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("recordings")
    return [with_real_uids(write_recording(root / name)) for name in ("rec-a", "rec-b")]


@pytest.fixture(scope="module")
def folder(sources, tmp_path_factory):
    path = tmp_path_factory.mktemp("evaluate") / "out"
    export(sources, path, "weblinx", rule=RULE, records=True)
    return path


def records(folder) -> list[dict]:
    return [json.loads(line) for path in sorted(folder.glob("records/*.jsonl")) for line in path.open()]


def mutated(folder, seed: int) -> list[dict]:
    """Predictions: right ones, near misses, wrong intents, places instead of uids, rubbish."""
    random_ = random.Random(seed)
    actions = [record["action"] for record in records(folder)]
    uids = re.findall(r'uid="([^"]*)"', " ".join(actions)) + ["gone"]
    changes = [
        lambda text: text, lambda text: text, lambda text: random_.choice(actions),
        lambda text: re.sub(r'uid="[^"]*"', lambda _: f'uid="{random_.choice(uids)}"', text),
        lambda text: re.sub(r'uid="[^"]*"', f"x={random_.randrange(300)}, y={random_.randrange(300)}", text),
        lambda text: re.sub(r'uid="[^"]*"', "top=40, left=20, right=220, bottom=64", text),
        lambda text: re.sub(r'="(\w)', r'="z\1', text), lambda text: text[:random_.randrange(len(text))],
        lambda text: f"I think: {text} and then (more)", lambda text: text.replace("click", "text_input"),
        lambda text: 'action(intent="click", uid="k-10")', lambda text: "", lambda text: 'click(x="3, y=5")',
        lambda text: 'load(url="https://www.shop.example/a/b?c")']
    return [{"demo_name": record["demo_name"], "turn_index": record["turn_index"],
             "output_predicted": random_.choice(changes)(record["action"])}
            for record in records(folder) for _ in range(2)]


@pytest.mark.parametrize("seed", range(4))
def test_the_scores_are_the_public_evaluations(folder, tmp_path, monkeypatch, seed):
    import pandas
    monkeypatch.chdir(tmp_path)  # the library keeps a cache where it runs
    splits = json.loads((folder / "splits.json").read_bytes())
    results, told = tmp_path / "results", {}
    for split in ("valid", "test_geo"):
        replays = public.load_replays([split], folder / "demonstrations", folder / "splits.json")
        predictions = [each for each in mutated(folder, seed) if each["demo_name"] in splits[split]]
        processed = public.process_model_results(replays, predictions, verbose=False)
        theirs = public.run_evaluation(processed, list(public.get_metrics_map()))
        mine = list(ours.scores(predictions, folder))
        assert [(each["demo_name"], each["turn_index"]) for each in mine] == [
            (each["demo_name"], each["turn_index"]) for each in theirs]
        for ours_, theirs_ in zip(mine, theirs, strict=True):
            for name in public.get_metrics_map():
                assert ours_[name] == (None if theirs_[name] is None else pytest.approx(theirs_[name], abs=1e-6)), name
        assert any(each["iou"] for each in mine) and any(each["chrf"] for each in mine)
        path = results / "model" / split / "x" / "eval_scores.csv"
        path.parent.mkdir(parents=True)
        pandas.DataFrame(theirs).to_csv(path, index=False)
        told |= {(split, each["intent"], each["metric"]): each for each in ours.aggregate(mine)}
    theirs = public.compute_aggregated_scores(results, splits=("valid", "test_geo"), verbose=False)
    assert len(theirs) > 30
    for each in theirs:
        mine_ = told[each["split"], each["intent"], each["metric"]]
        for name, value in (("score", each["unconditional_score"]), ("conditional", each["score"])):
            if value is None or value != value:
                assert mine_[name] is None
            else:
                assert mine_[name] == pytest.approx(value, abs=1e-6), (each, mine_)


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from([
    "click", "text_input", "(", ")", '"', ",", "=", "uid", "x", "y", "3", "-4", ".5", " ", "\\", "action", "intent",
    "say(", 'x="3,y=5"', 'text="a, b)"', "top=1", "²"]), max_size=14).map("".join)))
def test_what_a_model_wrote_is_read_as_the_public_evaluation_reads_it(text):
    try:
        intent, arguments = public_outputs.parse_predicted_output_string(text, warn_for_unknown=False)
        wanted = intent, public_outputs.sanitize_args(arguments)
    except (ValueError, AttributeError):
        return  # theirs gives up
    assert repr(read_action(text)) == repr(wanted)


def test_right_predictions_score_one(folder, tmp_path):
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps({
        "demo_name": each["demo_name"], "turn_index": each["turn_index"], "output_predicted": each["action"]}) + "\n"
        # As in the public evaluation a value "2" is read as a number, and a scroll has the IoU of no element: 0.
        for each in records(folder) if not each["action"].startswith(("change", "scroll"))))
    scores = {(each["split"], each["intent"], each["metric"]): each["score"] for each in evaluate(path, folder)}
    assert {split for split, _, _ in scores} == {"valid", "test_geo", "all"}
    assert {scores["all", "overall", metric] for metric in ("overall", "intent-match")} == {1.0}
    assert {scores["all", group, metric] for group, metric in (
        ("element-group", "iou"), ("text-group", "chrf-urlf"), ("textinput", "chrf"))} == {1.0}


def test_mind2web(sources, tmp_path):
    export(sources, tmp_path / "out", "mind2web", rule=RULE)
    actions = [(path.parent.name, task["annotation_id"], action) for path in sorted(tmp_path.glob("out/data/*/*.json"))
               for task in json.loads(path.read_bytes()) for action in task["actions"]]
    predictions = [{"action_uid": action["action_uid"], "element": action["pos_candidates"][0]["backend_node_id"],
                    "op": action["operation"]["op"], "value": action["operation"]["value"]} for _, _, action in actions]
    wrong = next(index for index, (split, _, _) in enumerate(actions) if split == "test_geo")
    predictions[wrong]["element"] = "0"
    del predictions[wrong + 1]
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps(predictions))
    scores = {(each["split"], each["intent"], each["metric"]): each["score"]
              for each in evaluate(path, tmp_path / "out")}
    assert [scores["valid", "overall", metric] for metric in (
        "element-accuracy", "operation-f1", "step-success", "task-success")] == [1, 1, 1, 1]
    assert [scores["test_geo", "overall", metric] for metric in (
        "element-accuracy", "operation-f1", "step-success", "task-success")] == pytest.approx([7 / 9, 8 / 9, 7 / 9, 0])
    assert scores["all", "overall", "task-success"] == 0.5
    export(sources, tmp_path / "rows", "multimodal-mind2web", rule=RULE)
    assert evaluate(path, tmp_path / "rows") == evaluate(path, tmp_path / "out")  # the same actions in other files
    (shard,) = (tmp_path / "rows" / "data").glob("valid-*")
    shard.write_bytes(shard.read_bytes()[:1000])
    with pytest.raises(InputError, match=f"{shard.name}: cannot be read as Parquet"):
        evaluate(path, tmp_path / "rows")


def test_mind2webs_words():
    action = {"pos_candidates": [{"backend_node_id": "7"}], "operation": {"op": "TYPE", "value": "new york"}}
    assert step({"element": 7, "op": "TYPE", "value": "new york"}, action)["step-success"] == 1
    assert step({"element": "7", "op": "TYPE", "value": "york"}, action) == {
        "element-accuracy": 1, "operation-f1": pytest.approx(0.8), "step-success": 0}
    assert token_f1("CLICK ", "CLICK") == 1 and token_f1("", "") == 1 and token_f1("a", "b") == 0
    assert url_f1("https://www.a.example/x/y", "http://a.example/x") == pytest.approx(0.8)


def test_agreement_of_two_versions(sources):
    a = sources[0].demonstration
    same = agreement(a, a)
    assert (same.intent_match, same.element_iou, same.chrf, same.only_a, same.only_b) == (1, 1, 1, 0, 0)
    turns = [dict(turn) for turn in a["turns"]]
    kept = [turn for turn in turns if not turn.get("dropped")]
    kept[1]["dropped"] = True                                         # only a has it
    kept[2]["intent"] = "hover"
    kept[2]["element"] = kept[2]["element"] | {"bbox": {"x": 20, "y": 40, "width": 100, "height": 24}}  # half of it
    kept[3]["arguments"] = {"text": "ovens"}
    kept[0]["utterance"] = ""
    other = agreement(a, a | {"turns": turns})
    assert other.only_a == 1 and other.only_b == 0 and other.matched == len(kept) - 1
    assert other.intent_match == pytest.approx((len(kept) - 2) / len(kept))
    assert 0.9 < other.element_iou < 1 and 0.5 < other.chrf < 0.9
    # Processed again, turns have other names: they are known by their events, and chat by what was said.
    renamed = [turn | {"id": f"new-{turn['id']}"} | ({"events": [number]} if turn["type"] == "browser" else {})
               for number, turn in enumerate(a["turns"])]
    numbered = [turn | ({"events": [number]} if turn["type"] == "browser" else {})
                for number, turn in enumerate(a["turns"])]
    assert agreement(a | {"turns": numbered}, a | {"turns": renamed}).intent_match == 1
    assert agreement({"turns": []}, {"turns": []}).intent_match is None


def test_the_command_prints_a_table_and_json(folder, tmp_path):
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps(mutated(folder, 1)))
    run = CliRunner().invoke(main, ["evaluate", str(path), str(folder)])
    assert run.exit_code == 0 and "element-group" in run.output and "test_geo" in run.output
    run = CliRunner().invoke(main, ["evaluate", str(path), str(folder), "--json"])
    assert json.loads(run.output) == evaluate(path, folder)


@pytest.mark.parametrize("content, reason", [
    ("{", "neither a JSON list nor JSON lines"), ('[{"demo_name": "x"}]', "entry 1: field turn_index"),
    ('{"demo_name": "../x", "turn_index": 0, "output_predicted": ""}', "demo_name"),
    ('{"demo_name": "rec-x", "turn_index": 0, "output_predicted": ""}', "rec-x"),
    ('{"demo_name": "rec-a-real", "turn_index": 99, "output_predicted": ""}', "no turn 99"), ("", "no prediction")])
def test_wrong_predictions(folder, tmp_path, content, reason):
    (tmp_path / "p.jsonl").write_text(content)
    with pytest.raises(InputError, match=reason):
        evaluate(tmp_path / "p.jsonl", folder)


def test_a_library_s_error_without_a_reason_still_has_words(monkeypatch, tmp_path, folder):
    def refuse(path):
        raise OSError("the disk went away")

    monkeypatch.setattr("pipeline.evaluate.scoring.open_named", refuse)
    with pytest.raises(InputError, match=r"p.jsonl: cannot be read \(the disk went away\)"):
        evaluate(tmp_path / "p.jsonl", folder)


def test_what_cannot_be_judged(sources, tmp_path, folder):
    export(sources, tmp_path / "out", "parquet")
    (tmp_path / "p.jsonl").write_text("{}")
    with pytest.raises(InputError, match="parquet"):
        evaluate(tmp_path / "p.jsonl", tmp_path / "out")
    with pytest.raises(InputError, match="manifest.json"):
        evaluate(tmp_path / "p.jsonl", tmp_path)
    with pytest.raises(InputError, match="gone"):
        evaluate(tmp_path / "gone", folder)
    assert weblinx.Replay.from_demonstration(weblinx.Demonstration("rec-a-real", folder / "demonstrations"))


@pytest.mark.parametrize("box", [{"x": 1, "y": 1, "width": 9, "height": 9}, None,
                                 {"x": 1, "y": 1, "width": 0, "height": 9}])
@pytest.mark.parametrize("text", ["Seattle", "a", "", " ", "12"])
def test_a_demonstration_agrees_with_itself(box, text):
    turns = [{"id": "t1", "type": "browser", "intent": "textInput", "arguments": {"text": text}, "events": [1],
              "element": {"bbox": box}, "dropped": False}]
    found = agreement({"turns": turns}, {"turns": turns})
    assert (found.intent_match, found.element_iou, found.chrf) == (1, 1, 1)


def test_what_both_lack_is_not_compared():
    def version(box, text):
        return {"turns": [{"id": f"t{number}", "type": "browser", "intent": "textInput", "events": [number],
                           "arguments": {"text": text_}, "element": {"bbox": box_}, "dropped": False}
                          for number, (box_, text_) in enumerate([(None, ""), (box, text)])]}
    found = agreement(version({"x": 0, "y": 0, "width": 2, "height": 2}, "town"),
                      version({"x": 0, "y": 0, "width": 2, "height": 1}, ""))
    assert (found.element_iou, found.chrf) == (0.5, 0)


def test_an_address_that_cannot_be_parsed_scores_0_as_in_the_public_evaluation():
    assert url_f1("http://[::1/a", "http://[::1/a") == 0
    assert url_f1("https://a.example/a", "https://a.example/a") == 1
