"""The fold of edits: pure, from turns made up here."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.turns.edits import (
    append,
    append_edit,
    apply_edits,
    in_force,
    made_since_beginning,
    task_after,
    turns_of_others,
    undo_depths,
)
from schemas import InputError
from tests.support.samples.recording_fixtures import element

BLOB = "ab" * 32
STATE = {"tab": 1, "url": "https://a.example/", "title": "", "viewport": {"width": 800, "height": 600}, "zoom": 1.0,
         "device_pixel_ratio": 1.0, "scroll": {"x": 0.0, "y": 0.0}, "dom": None, "elements": None, "screenshot": BLOB,
         "screenshot_time": 0.9, "video_time": 0.9, "screenshot_status": "good"}


def typing(name: str, text: str, events: list[int], uid: str = "9", **changes) -> dict:
    return {"id": name, "type": "browser", "timestamp": float(events[0] if events else 1), "intent": "textInput",
            "arguments": {"text": text}, "element": element(uid, "input"), "state": STATE, "events": events,
            "checks": [], "dropped": False} | changes


def said(name: str, utterance: str = "Hello") -> dict:
    return {"id": name, "type": "chat", "timestamp": 0.5, "speaker": "instructor", "utterance": utterance,
            "checks": [], "dropped": False}


TURNS = [said("c1"), typing("a", "to", [1, 2]), typing("b", "town", [3, 4]), typing("d", "x", [5, 6, 7], uid="10")]


def ids(turns: list[dict]) -> list[str]:
    return [turn["id"] for turn in turns]


def test_merged_typing_has_the_first_state_the_last_text_and_all_events():
    turns = apply_edits(TURNS, [{"op": "merge", "turn": "a", "other": "b"}])
    assert ids(turns) == ["c1", "a", "d"]
    assert turns[1]["arguments"] == {"text": "town"} and turns[1]["events"] == [1, 2, 3, 4]
    assert turns[1]["timestamp"] == 1.0


@pytest.mark.parametrize("other", ["a", "d", "c1", "nobody"])
def test_only_typing_into_the_same_field_is_merged(other):
    with pytest.raises(InputError, match="other"):
        apply_edits(TURNS, [{"op": "merge", "turn": "a", "other": other}])


def test_split_typing_names_every_event_once():
    edit = {"op": "split", "turn": "d", "arguments": {"text": ""}, "added": typing("d2", "x", [6, 7], uid="10")}
    turns = apply_edits(TURNS, [edit])
    assert ids(turns) == ["c1", "a", "b", "d", "d2"]
    assert turns[3]["events"] == [5] and turns[4]["events"] == [6, 7] and turns[3]["arguments"] == {"text": ""}


@pytest.mark.parametrize("added", [typing("d2", "x", [5, 6, 7]), typing("d2", "x", [8]), typing("a", "x", [7]),
                                   said("d2")])
def test_a_split_that_invents_loses_or_doubles_is_refused(added):
    with pytest.raises(InputError, match="added"):
        append(TURNS, [], {"op": "split", "turn": "d", "arguments": {"text": ""}, "added": added})


def test_a_chat_turn_is_added_where_it_was_said():
    turns = apply_edits(TURNS, [{"op": "add", "turn": "new", "after": "a", "added": said("new", "Thanks")}])
    assert ids(turns) == ["c1", "a", "new", "b", "d"]
    assert ids(apply_edits(TURNS, [{"op": "add", "turn": "new", "after": None, "added": said("new")}]))[0] == "new"
    reply = said("new") | {"reply_to": "c1"}
    assert apply_edits(TURNS, [{"op": "add", "turn": "new", "after": "c1", "added": reply}])[1] == reply


def test_an_action_that_no_event_tells_of_is_added_and_edited_as_any_other():
    log = append(TURNS, [], {"op": "add", "turn": "new", "after": "a", "added": typing("new", "Oslo", [])})
    assert ids(apply_edits(TURNS, log)) == ["c1", "a", "new", "b", "d"]
    for edit in ({"op": "set_arguments", "turn": "new", "arguments": {"text": "Bergen"}},
                 {"op": "merge", "turn": "a", "other": "new"}):
        log = append(TURNS, log, edit)
    assert ids(apply_edits(TURNS, log)) == ids(TURNS)
    assert apply_edits(TURNS, log)[1] == TURNS[1] | {"arguments": {"text": "Bergen"}}


@pytest.mark.parametrize("edit", [
    {"op": "add", "turn": "a", "after": None, "added": said("a")},
    {"op": "add", "turn": "new", "after": "nobody", "added": said("new")},
    {"op": "add", "turn": "new", "after": None, "added": said("other")},
    {"op": "add", "turn": "new", "after": None, "added": typing("new", "x", [9])},
    {"op": "add", "turn": "new", "after": None, "added": typing("new", "x", []) | {"state": None}},
    {"op": "add", "turn": "new", "after": None, "added": typing("new", "x", [], intent="drag", arguments={
        "from": {"x": 1, "y": 1}, "to": {"x": 2, "y": 2}})},
    {"op": "add", "turn": "new", "after": None, "added": typing("new", "x" * 100_000, [])},
    {"op": "add", "turn": "new", "after": None},
    {"op": "add", "turn": "new", "after": None, "added": said("new") | {"reply_to": "nobody"}},
    {"op": "add", "turn": "new", "after": None, "added": said("new") | {"reply_to": "a"}},
    {"op": "add", "turn": "new", "after": None, "added": said("new") | {"reactions": [{"emoji": "", "count": 1}]}},
    {"op": "add", "turn": "new", "after": None, "added": said("new") | {"reactions": [{"emoji": "a", "count": 0}]}},
])
def test_a_turn_that_cannot_be_added_is_refused(edit):
    with pytest.raises(InputError, match="edit"):
        append(TURNS, [], edit)


def test_another_picture_keeps_the_first_one_known():
    edits = [{"op": "set_screenshot", "turn": "a", "screenshot": "cd" * 32, "screenshot_time": 0.4, "source": "video"},
             {"op": "set_screenshot", "turn": "a", "screenshot": "ef" * 32, "screenshot_time": 0.2,
              "source": "captured"}]
    state = apply_edits(TURNS, edits)[1]["state"]
    assert state["screenshot"] == "ef" * 32 and state["screenshot_taken"] == BLOB
    assert state["screenshot_source"] == "captured" and state["screenshot_status"] == "good"


def test_a_check_whose_fix_was_applied_is_settled_until_undone():
    fix = {"op": "drop", "turn": "b"}
    turns = [*TURNS[:2], TURNS[2] | {"checks": [{"kind": "idle-hover", "reason": "Nothing opened.", "fix": fix},
                                                {"kind": "typo", "reason": "?"}]}]
    assert [check["kind"] for check in apply_edits(turns, [fix])[2]["checks"]] == ["typo"]
    assert len(apply_edits(turns, [fix, {"op": "undo"}])[2]["checks"]) == 2
    settled = apply_edits(turns, [{"op": "settle", "turn": "b", "check": "typo"}])
    assert [check["kind"] for check in settled[2]["checks"]] == ["idle-hover"]


EDITS = st.lists(st.sampled_from([
    {"op": "drop", "turn": "a"}, {"op": "restore", "turn": "a"}, {"op": "merge", "turn": "a", "other": "b"},
    {"op": "move", "turn": "d", "after": None}, {"op": "move", "turn": "b", "after": "c1"},
    {"op": "add", "turn": "new", "after": "a", "added": said("new")},
    {"op": "add", "turn": "new2", "after": "a", "added": typing("new2", "x", [])},
    {"op": "set_utterance", "turn": "c1", "utterance": "?"},
    {"op": "split", "turn": "d", "arguments": {"text": ""}, "added": typing("d2", "x", [7], uid="10")},
    {"op": "undo"}, {"op": "redo"}]), max_size=14)


@settings(max_examples=200, deadline=None)
@given(EDITS)
def test_whatever_is_done_can_be_undone_and_no_event_is_lost(wanted):
    before, log = copy.deepcopy(TURNS), []
    for edit in wanted:
        try:
            log = append(TURNS, log, edit)
        except InputError:
            continue
    turns = apply_edits(TURNS, log)
    assert len(ids(turns)) == len(set(ids(turns)))
    assert sorted(event for turn in turns for event in turn.get("events", [])) == list(range(1, 8))
    while True:
        try:
            log = append(TURNS, log, {"op": "undo"})
        except InputError:
            break
    assert apply_edits(TURNS, log) == before == TURNS


@pytest.mark.parametrize("at, after", [((25, 50), (25, 50)), ((400, 300), (120, 52)), ((None, None), (None, None))])
def test_a_pointer_that_is_not_on_the_new_target_is_moved_to_its_middle(at, after):
    turn = typing("a", "", [1], intent="click", arguments={"x": at[0], "y": at[1], "button": 0, "modifiers": []})
    target = element("10", "button")
    assert target["bbox"] == {"x": 20, "y": 40, "width": 200, "height": 24}
    (changed,) = apply_edits([turn], [{"op": "retarget", "turn": "a", "element": target}])
    assert (changed["arguments"]["x"], changed["arguments"]["y"]) == after and changed["element"] == target
    (hidden,) = apply_edits([turn], [{"op": "retarget", "turn": "a", "element": target | {"bbox": None}}])
    assert hidden["arguments"] == turn["arguments"]


def test_several_turns_are_dropped_and_undone_at_once():
    log = append(TURNS, [], {"op": "drop", "turns": ["a", "d"]})
    assert [turn["id"] for turn in apply_edits(TURNS, log) if turn["dropped"]] == ["a", "d"]
    back = append(TURNS, log, {"op": "restore", "turns": ["d"]})
    assert [turn["id"] for turn in apply_edits(TURNS, back) if turn["dropped"]] == ["a"]
    assert apply_edits(TURNS, append(TURNS, log, {"op": "undo"})) == TURNS
    for wrong in ({"turns": ["a", "nobody"]}, {"turns": []}, {"turns": ["a"], "turn": "a"}, {}):
        with pytest.raises(InputError, match="turn"):
            append(TURNS, [], {"op": "drop"} | wrong)
    with pytest.raises(InputError, match="turns"):
        append(TURNS, [], {"op": "settle", "turn": "a", "check": "typo", "turns": ["a"]})


def test_the_tasks_text_is_that_of_the_last_edit_that_stands():
    log = append(TURNS, append(TURNS, [], {"op": "set_task", "task": "One"}), {"op": "set_task", "task": "Two"})
    assert apply_edits(TURNS, log) == TURNS
    assert [task_after("As recorded", log[:number]) for number in range(3)] == ["As recorded", "One", "Two"]
    assert task_after("As recorded", append(TURNS, log, {"op": "undo"})) == "One"


OF_ACTIONS = [
    {"op": "retarget", "element": element("10", "button")}, {"op": "set_intent", "intent": "press",
                                                             "arguments": {"key": "Enter"}},
    {"op": "set_arguments", "arguments": {"text": "x"}}, {"op": "set_screenshot_status", "status": "broken"},
    {"op": "set_screenshot", "screenshot": BLOB, "screenshot_time": 0.9, "source": "video"},
    {"op": "merge", "other": "a"}, {"op": "split", "arguments": {"text": ""}, "added": typing("d2", "x", [6, 7])}]
OF_CHAT = [{"op": "set_utterance", "utterance": "Hi"}, {"op": "set_speaker", "speaker": "navigator"}]


@pytest.mark.parametrize("turn, edit", [("c1", each) for each in OF_ACTIONS] + [("a", each) for each in OF_CHAT],
                         ids=lambda each: each if isinstance(each, str) else each["op"])
def test_an_edit_of_the_other_kind_of_turn_is_refused(turn, edit):
    with pytest.raises(InputError):
        apply_edits(TURNS, [edit | {"turn": turn}])


def test_a_split_parts_the_turns_and_the_other_ones_undo_ends_where_it_begins():
    answers = said("c2") | {"reply_to": "c1"}
    turns = [*TURNS, answers, said("c3") | {"reply_to": "c2"}]
    log = append(turns, append(turns, [], {"op": "move", "turn": "d", "after": "c1"}), {"op": "drop", "turn": "b"})
    first = append(turns, log, {"op": "end_before", "turn": "b", "task": "Another"})
    second = append(turns, log, {"op": "begin_at", "turn": "b", "other": "rec-1"})
    one, two = apply_edits(turns, first), apply_edits(turns, second)
    assert ids(one) == ["c1", "d", "a"] and ids(two) == ["b", "c2", "c3"] and two[0]["dropped"]
    assert "reply_to" not in two[1] and two[2]["reply_to"] == "c2" and answers["reply_to"] == "c1"
    assert [ids(part) for part in turns_of_others(turns, first)] == [[], ids(two)]
    assert [ids(part) for part in turns_of_others(turns, second)] == [ids(one), []] and turns_of_others(turns,
                                                                                                        log) == ([], [])
    assert undo_depths(first) == (3, 0) and undo_depths(second) == (0, 0) and task_after("One", first) == "One"
    assert apply_edits(turns, append(turns, first, {"op": "undo"})) == apply_edits(turns, log)
    with pytest.raises(InputError, match="nothing to undo"):
        append(turns, second, {"op": "undo"})
    fixed = append(turns, second, {"op": "set_utterance", "turn": "c2", "utterance": "Yes"})
    assert made_since_beginning(fixed) == fixed[3:] and made_since_beginning(first) == first
    assert apply_edits(turns, append(turns, fixed, {"op": "undo"})) == two
    again = append(turns, second, {"op": "end_before", "turn": "c3"})
    third = append(turns, second, {"op": "begin_at", "turn": "c3", "other": "rec-1~p3"})
    assert [ids(part) for part in turns_of_others(turns, again)] == [ids(one), ["c3"]]
    assert [ids(part) for part in turns_of_others(turns, third)] == [["c1", "d", "a", "b", "c2"], []]
    assert [ids(part) for part in turns_of_others(turns, append(turns, first, {"op": "end_before", "turn": "a"}))] == [
        [], ["a", *ids(two)]]


@pytest.mark.parametrize("edit", [{"op": "end_before", "turn": "c1"}, {"op": "end_before", "turn": "nobody"},
                                  {"op": "begin_at", "turn": "b"}, {"op": "end_before", "turn": "b", "check": "x"}])
def test_a_split_that_leaves_nothing_or_says_too_little_is_refused(edit):
    with pytest.raises(InputError, match="turn|other|check"):
        append(TURNS, [], edit)


def test_a_join_brings_the_others_turns_back_as_they_are_there():
    turns = [*TURNS, said("c2") | {"reply_to": "c1"}]
    split = append(turns, append(turns, [], {"op": "drop", "turn": "a"}), {"op": "end_before", "turn": "b"})
    cut = append(turns, split, {"op": "set_task", "task": "One"})
    theirs = [{"op": "move", "turn": "c2", "after": None}, {"op": "set_task", "task": "Two"},
              {"op": "end_before", "turn": "d", "other": "p3"}]
    joined, after = append_edit(turns, cut, {"op": "join", "other": "p2", "edits": 3, "outcome": None}, theirs)
    assert ids(after) == ["c1", "a", "c2", "b"] and after[2]["reply_to"] == "c1" and after[1]["dropped"]
    assert [ids(part) for part in turns_of_others(turns, joined)] == [[], ["d"]] and task_after("", joined) == "One"
    assert undo_depths(joined) == (4, 0) and [number for number, _ in in_force(joined)] == [1, 2, 3, 4, 5, 6, 7]
    undone = append(turns, joined, {"op": "undo"})
    assert apply_edits(turns, undone) == apply_edits(turns, cut) and undo_depths(undone) == (3, 1)
    assert apply_edits(turns, append(turns, undone, {"op": "redo"})) == after
    again, whole = append_edit(turns, joined, {"op": "join", "other": "p3", "edits": 0, "task": "All"})
    assert ids(whole) == ["c1", "a", "c2", "b", "d"] and turns_of_others(turns, again) == ([], [])
    assert task_after("", again) == "All"
    with pytest.raises(InputError, match="does not end before another"):
        append(turns, again, {"op": "join", "other": "p4", "edits": 0})
    with pytest.raises(InputError, match="field edits"):
        append(turns, cut, {"op": "join", "other": "p2", "edits": 2})
    twice = append(turns, cut, {"op": "add", "turn": "d", "after": "a", "added": said("d")})
    with pytest.raises(InputError, match="both contain a turn 'd'"):
        append(turns, twice, {"op": "join", "other": "p2", "edits": 0})


@pytest.mark.parametrize(("before", "edit", "reason"), [
    ([{"op": "drop", "turn": "b"}], {"op": "merge", "turn": "a", "other": "b"}, "dropped"),
    ([{"op": "drop", "turn": "a"}], {"op": "merge", "turn": "a", "other": "b"}, "dropped"),
    ([{"op": "drop", "turn": "a"}], {"op": "merge", "turn": "b", "other": "a"}, "dropped"),
    ([{"op": "move", "turn": "d", "after": "a"}], {"op": "merge", "turn": "a", "other": "b"}, "'d' is between"),
    ([{"op": "move", "turn": "c1", "after": "a"}], {"op": "merge", "turn": "b", "other": "a"}, "'c1' is between"),
    ([], {"op": "merge", "turn": "a", "other": "d"}, "same field"),
    ([], {"op": "retarget", "turn": "a", "element": None}, "recorded without a target"),
    ([], {"op": "split", "turn": "d", "arguments": {"text": ""}, "added": typing("d2", "x", [], uid="10")}, "events"),
    ([], {"op": "split", "turn": "d", "arguments": {"text": ""}, "added": typing("d2", "x", [7])}, "element"),
    ([], {"op": "split", "turn": "d", "arguments": {"text": ""},
          "added": typing("d2", "x", [7], uid="10", dropped=True)}, "dropped"),
])
def test_an_edit_whose_preconditions_do_not_hold_is_refused_with_the_reason(before, edit, reason):
    log: list[dict] = []
    for made in before:
        log = append(TURNS, log, made)
    with pytest.raises(InputError, match=reason):
        append(TURNS, log, edit)


def test_typing_of_another_tab_or_frame_is_not_merged():
    for other in (typing("b", "town", [3, 4], state=STATE | {"tab": 2}),
                  typing("b", "town", [3, 4], element=element("9", "input") | {"frame": [1]})):
        with pytest.raises(InputError, match="same field"):
            append([*TURNS[:2], other], [], {"op": "merge", "turn": "a", "other": "b"})


def test_merging_in_reverse_keeps_the_last_text_and_the_first_state():
    turns = apply_edits(TURNS, append(TURNS, [], {"op": "merge", "turn": "b", "other": "a"}))
    assert ids(turns) == ["c1", "b", "d"]
    assert turns[1] == TURNS[1] | {"id": "b", "arguments": {"text": "town"}, "events": [1, 2, 3, 4]}


def test_typing_is_merged_over_a_dropped_turn():
    log = append(TURNS, append(TURNS, [], {"op": "move", "turn": "d", "after": "a"}), {"op": "drop", "turn": "d"})
    turns = apply_edits(TURNS, append(TURNS, log, {"op": "merge", "turn": "a", "other": "b"}))
    assert ids(turns) == ["c1", "a", "d"] and turns[1]["arguments"] == {"text": "town"}


def test_a_stored_log_with_an_edit_that_is_refused_today_still_opens():
    log = [{"op": "drop", "turn": "b"}, {"op": "merge", "turn": "a", "other": "b"}]
    assert ids(apply_edits(TURNS, log)) == ["c1", "a", "d"]
    assert undo_depths(append(TURNS, log, {"op": "undo"})) == (1, 1)


def test_the_picture_that_was_taken_chosen_again_is_as_recorded():
    edits = [{"op": "set_screenshot", "turn": "a", "screenshot": picture, "screenshot_time": 0.9, "source": "captured"}
             for picture in ("cd" * 32, BLOB)]
    unchanged = {"op": "set_screenshot_status", "turn": "a", "status": "good"}
    assert apply_edits(TURNS, edits) == apply_edits(TURNS, [unchanged]) != apply_edits(TURNS, edits[:1])


def test_a_label_that_is_removed_leaves_nothing():
    edits = [{"op": "label", "turn": "a", "label": "x", "said": said_} for said_ in (["1"], [])]
    assert "labels" in apply_edits(TURNS, edits[:1])[1] and "labels" not in apply_edits(TURNS, edits)[1]
