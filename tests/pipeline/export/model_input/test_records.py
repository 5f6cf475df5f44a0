"""Candidates and model-ready records, held against the public library's own prompt builder and truncation."""

import json
from functools import partial

import lxml.html
import pytest
import weblinx
from hypothesis import given, settings
from hypothesis import strategies as st
from weblinx.processing import dom, load_candidate_elements, outputs, prompt, truncation
from weblinx.utils import format as weblinx_format

from pipeline.export import Source, export
from pipeline.export.model_input.pruning import bracket_notation, prune
from pipeline.export.model_input.scorers import lexical, scorer
from pipeline.export.model_input.truncation import cut, fit, reduce_texts, tokens
from pipeline.pages.dom import flatten
from schemas import InputError
from tests.pipeline.pages.test_dom import UID
from tests.support.samples.recording_fixtures import make_demonstration, page, write_recording


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    root = tmp_path_factory.mktemp("weblinx")
    recordings = [write_recording(root / name) for name in ("rec-a", "rec-b", "rec-c")]
    export([Source(make_demonstration(recording), recording) for recording in recordings], root / "out", "weblinx",
           candidates=True, records=True)
    return root / "out"


def lines(path) -> list[dict]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def demonstrations(folder) -> list[weblinx.Demonstration]:
    names = json.loads((folder / "splits.json").read_bytes())["train"]
    return [weblinx.Demonstration(name, folder / "demonstrations") for name in names]


def selected(folder, number=10) -> list[dict]:
    found = load_candidate_elements(folder / "candidates" / "train.jsonl", group_keys=("demo_name", "turn_index"))
    return prompt.select_turns_and_candidates_for_prompts(demonstrations(folder), found, num_candidates=number)


def test_the_librarys_prompt_builder_runs_over_the_whole_export(exported):
    format_intent = partial(weblinx_format.format_intent_automatically,
                            format_click=partial(weblinx_format.format_click, formatters=(
                                weblinx_format.format_uid, weblinx_format.format_target_bbox)))

    def build(replay, turn, cands_turn):
        tree = lxml.html.fromstring(turn.html) if turn.has_html() else None
        pruned = dom.clean_and_prune_tree(tree, cands_turn=cands_turn) if tree is not None else ""
        return [str(pruned), prompt.format_candidates(cands_turn),
                prompt.format_prev_turns(replay, turn, format_intent=format_intent),
                prompt.format_utterances(prompt.find_turns_with_instructor_chat(replay, turn, num_prev_turns=0))]

    turns = selected(exported)
    assert all(turn["cands_turn"] for turn in turns)
    built = prompt.build_input_records_from_selected_turns(turns, format_intent, build, None)
    ours = lines(exported / "records" / "train.jsonl")
    assert [(record["demo_name"], record["turn_index"]) for record in built] == [
        (record["demo_name"], record["turn_index"]) for record in ours]
    assert [record["screenshot_path"] for record in built] == [str(exported / record["screenshot"]) for record in ours]
    for turn, record in zip(turns, ours, strict=True):
        assert [each["uid"] for each in turn["cands_turn"]] == record["candidate_uids"]
        said = prompt.find_turns_with_instructor_chat(turn["replay"], turn["turn"], num_prev_turns=0)
        assert record["utterances"] == (prompt.format_utterances(said, sep=None, num_utterances=4) if said else [])


def test_candidates_have_the_fields_of_the_published_ones(exported):
    found = lines(exported / "candidates" / "train.jsonl")
    assert {frozenset(each) for each in found} == {frozenset({
        "query", "doc", "uid", "demo_name", "turn_index", "elem_dict", "label", "score", "rank"})}
    assert {frozenset(each["elem_dict"]) for each in found} == {frozenset({
        "tag", "xpath", "text", "bbox", "attributes", "children"})}
    turns = {(each["demo_name"], each["turn_index"]) for each in found}
    for demonstration in demonstrations(exported):
        replay = weblinx.Replay.from_demonstration(demonstration)
        for turn in replay.filter_by_intents("click", "textInput", "submit", "change"):
            key = (demonstration.name, turn.index)
            mine = [each for each in found if (each["demo_name"], each["turn_index"]) == key]
            assert [each["rank"] for each in mine] == list(range(1, len(mine) + 1))
            assert [each["score"] for each in mine] == sorted((each["score"] for each in mine), reverse=True)
            [target] = [each["uid"] for each in mine if each["label"]]
            assert target == turn.element["attributes"][UID]
            assert key in turns


def test_actions_are_read_back_by_the_library(exported, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the library keeps a cache where it runs
    replays = {each.name: weblinx.Replay.from_demonstration(each) for each in demonstrations(exported)}
    for record in lines(exported / "records" / "train.jsonl"):
        turn = replays[record["demo_name"]][record["turn_index"]]
        intent, arguments = outputs.parse_predicted_output_string(record["action"])
        wanted = outputs.extract_action_from_turn(turn)
        assert intent == wanted["intent"]
        for name in {"text", "value", "url", "utterance"} & wanted["args"].keys():
            assert str(arguments[name]) == wanted["args"][name]  # the library reads "2" as a number
        if wanted["element"]:
            assert str(arguments["uid"]) == wanted["element"]["attributes"][UID]


def test_a_record_stays_within_its_budget(tmp_path):
    recording = write_recording(tmp_path / "rec")
    demonstration = make_demonstration(recording)
    demonstration["turns"][0]["utterance"] = "find lamps " * 400
    export([Source(demonstration, recording)], tmp_path / "out", "weblinx", records=True, budget=256)
    records = lines(tmp_path / "out" / "records" / "train.jsonl")
    assert records and not (tmp_path / "out" / "candidates").exists()
    for record in records:
        parts = [record["html"], *record["utterances"], *record["actions"], *record["candidates"]]
        assert sum(map(tokens, parts)) <= 256 + 7 * len(record["candidates"])  # each is named: (uid = 12)
        assert tokens(record["html"]) <= 88


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 60), min_size=1, max_size=12), st.integers(-3, 300))
def test_reduction_is_the_librarys(lengths, limit):
    lengths.sort()
    assert reduce_texts(lengths, limit) == truncation.reduce_list_of_lengths(lengths, limit)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=6), st.integers(0, 50))
def test_texts_fit(texts, limit):
    assert sum(map(tokens, fit(texts, limit))) <= limit
    assert fit(texts, 10_000) == texts
    for text in texts:
        assert tokens(cut(text, limit)) <= limit


def test_the_pruned_page_holds_the_candidates():
    flat = flatten(page("lamps"), UID)
    tree = prune(flat, ["10", "f6", "15", "gone"])
    assert sorted(each.get("uid") for each in tree.iter() if each.get("uid")) == ["10", "15", "f6"]
    text = bracket_notation(tree)
    assert "(input uid=10 type=search value=lamps" in text or "input type=search value=lamps uid=10" in text
    assert "Pay & go" in text and "data-" not in text and "option" not in text


def test_the_lexical_scorer_prefers_what_was_asked_for():
    scores = lexical("add the red lamp to the cart", ["a About us", "button Add to cart", "a red lamp", ""])
    assert min(scores[1], scores[2]) > scores[0] >= scores[3] == 0
    assert lexical("", []) == []


def test_a_model_that_is_not_installed_is_told():
    with pytest.raises(InputError, match="sentence-transformers"):
        scorer("all-MiniLM-L6-v2")
