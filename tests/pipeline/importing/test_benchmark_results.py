"""Results of BrowserGym, WebArena and WebVoyager, in files as these write them.

`python -m benchmarks.importing` has the files of the tools themselves.
"""

import base64
import gzip
import json
import pickle
import sys
import types

import cv2
import numpy
import pytest

from pipeline.importing import list_items
from schemas import InputError
from tests.pipeline.importing.test_own_exports import imported

PICTURE = cv2.imencode(".png", numpy.full((600, 900, 3), 99, numpy.uint8))[1].tobytes()
START_S = 1_790_000_000.0
MODULES = {"browsergym": (), "browsergym.experiments": (), "browsergym.experiments.loop": (
    "StepInfo", "StepTimestamps", "ExpArgs"), "agents": ("AgentArgs", "ModelArgs")}
MODULE, AGENTS = "browsergym.experiments.loop", "agents"
NODES = (  # parent, kind, name, text, attributes, in a shadow root
    (-1, 9, "#document", "", (), ""), (0, 1, "HTML", "", ("bid", "0"), ""), (1, 1, "BODY", "", ("bid", "1"), ""),
    (2, 1, "LABEL", "", ("for", "q", "bid", "2"), ""), (3, 3, "#text", "Läden & <more>", (), ""),
    (2, 1, "INPUT", "", ("id", "q", "bid", "3", "browsergym_set_of_marks", "1"), ""),
    (2, 1, "INPUT", "", ("type", "password", "value", "topsecret", "bid", "4"), ""),
    (2, 1, "SELECT", "", ("bid", "5", "value", "2", "aria-label", "Size"), ""),
    (7, 1, "OPTION", "", ("value", "1", "bid", "6"), ""), (8, 3, "#text", "One", (), ""),
    (7, 1, "OPTION", "", ("value", "2", "bid", "7"), ""), (10, 3, "#text", "Two", (), ""),
    (2, 1, "X-CARD", "", ("bid", "8"), ""), (12, 1, "BUTTON", "", ("bid", "9"), "open"),
    (13, 3, "#text", "Inside", (), "open"), (2, 1, "IFRAME", "", ("bid", "a"), ""))
FRAME = ((-1, 9, "#document", "", (), ""), (0, 1, "HTML", "", (), ""), (1, 1, "BUTTON", "", ("bid", "a3"), ""),
         (2, 3, "#text", "Framed", (), ""))


def snapshot(typed=""):
    """A page as Chrome DevTools writes it: texts are numbers."""
    strings: list[str] = []

    def number(text):
        if text not in strings:
            strings.append(text)
        return strings.index(text)

    def document(nodes, values=(), selected=(), frames=()):
        return {"scrollOffsetX": 0, "scrollOffsetY": 40, "nodes": {
            "parentIndex": [node[0] for node in nodes], "nodeType": [node[1] for node in nodes],
            "nodeName": [number(node[2]) for node in nodes], "nodeValue": [number(node[3]) for node in nodes],
            "attributes": [[number(text) for text in node[4]] for node in nodes],
            "shadowRootType": {"index": [place for place, node in enumerate(nodes) if node[5]],
                               "value": [number(node[5]) for node in nodes if node[5]]},
            "inputValue": {"index": [place for place, _ in values], "value": [number(text) for _, text in values]},
            "optionSelected": {"index": list(selected)},
            "contentDocumentIndex": {"index": [place for place, _ in frames], "value": [to for _, to in frames]}}}

    documents = [document(NODES, ((5, typed), (6, "topsecret")), (10,), ((15, 1),)), document(FRAME)]
    return {"documents": documents, "strings": strings}


@pytest.fixture
def classes(monkeypatch):
    """Classes of the names that BrowserGym's pickles have, which exist only while the pickles are written."""
    classes = {}
    for module, names in MODULES.items():
        holder = types.ModuleType(module)
        for name in names:
            classes[name] = type(name, (), {"__module__": module})
            setattr(holder, name, classes[name])
        monkeypatch.setitem(sys.modules, module, holder)
    return classes


def instance(kind, **fields):
    value = kind()
    vars(value).update(fields)
    return value


def write_experiment(folder, classes, actions, *, errors=(), **observed):
    """A folder as of an experiment: a step for each action, and the last without one."""
    folder.mkdir(parents=True)
    model = instance(classes["ModelArgs"], model_name="m-1")
    agent = instance(classes["AgentArgs"], agent_name="GenericAgent", chat_model_args=model)
    (folder / "exp_args.pkl").write_bytes(pickle.dumps(instance(classes["ExpArgs"], agent_args=agent)))
    messages = [{"role": "assistant", "timestamp": START_S + 0.5, "message": "How can I help?"},
                {"role": "user", "timestamp": START_S + 1, "message": "Order a lamp"}]
    boxes = {"3": [10.0, 20.0, 100.0, 20.0], "5": [10.0, 60.0, 50.0, 20.0], "9": [10.0, 100.0, 50.0, 20.0],
             "a3": [10.0, 140.0, 50.0, 20.0], "0": None}
    for number, action in enumerate([*actions, None]):
        page = {"goal": "Order a lamp", "chat_messages": tuple(messages), "url": "https://shop.example/",
                "open_pages_urls": ("https://shop.example/",), "open_pages_titles": ("Shop",),
                "active_page_index": numpy.array([0]), "dom_object": snapshot("lamp"[:number]),
                "extra_element_properties": {uid: {"bbox": box} for uid, box in boxes.items()},
                "last_action_error": "Error: gone" if number - 1 in errors else "", "goal_object": None, **observed}
        times = instance(classes["StepTimestamps"], env_start=START_S + 2 * number,
                         action_exec_start=START_S + 2 * number + 0.25, agent_stop=numpy.float64(START_S + 2 * number))
        step = instance(classes["StepInfo"], step=number, obs=page, action=action, profiling=times,
                        reward=numpy.float64(number / 4), agent_info={"think": f"thought {number}"},
                        stats={"input_tokens": 900, "output_tokens": numpy.int64(7), "cost": 0.25})
        (folder / f"step_{number}.pkl.gz").write_bytes(gzip.compress(pickle.dumps(step)))
        (folder / f"screenshot_step_{number}.png").write_bytes(PICTURE)


def only(path, tmp_path):
    source, = imported(path, tmp_path / "imported").values()
    return source


def did(source):
    return [(turn["intent"], turn["arguments"], turn["element"] and turn["element"]["name"])
            if turn["type"] == "browser" else (turn["speaker"], turn["utterance"]) for turn in source.turns]


def left_out(source):
    return source.recording.manifest["imported"]["left_out"]


def click(x=None, y=None):
    return {"x": x, "y": y, "button": 0, "modifiers": []}


def test_an_experiment_of_browsergym(classes, tmp_path, monkeypatch):
    study = tmp_path / "study"
    write_experiment(study / "2026-01-02_agent_on_shop", classes, [
        "fill('3', 'Läden')", "select_option('5', 'Two')", "click('99')", "noop()",
        "scroll(0, 300)\nclick('9')", "drag_and_drop('3', '9')", "import os", "click('a3')",
        "send_msg_to_user('It is ordered.')"], errors=[2])
    monkeypatch.undo()  # the classes are gone when it is read
    source = only(study, tmp_path)
    assert did(source) == [
        ("navigator", "How can I help?"), ("instructor", "Order a lamp"),
        ("textInput", {"text": "Läden"}, "Läden & <more>"), ("change", {"label": "Two", "value": "2"}, "Size"),
        ("scroll", {"x": 0.0, "y": 340.0, "delta": {"x": 0.0, "y": 300.0}}, None), ("click", click(), "Inside"),
        ("drag", {"from": {"x": 60.0, "y": 30.0}, "to": {"x": 35.0, "y": 110.0}}, "Läden & <more>"),
        ("click", click(35.0, 150.0), "Framed"), ("navigator", "It is ordered.")]
    assert left_out(source) == {"actions that failed": 1, "actions that are not calls such as click('12')": 1}
    typed = source.turns[2]
    assert typed["agent"] == {"step": 1, "reasoning": "thought 0", "model": "m-1", "input_tokens": 900,
                              "output_tokens": 7, "cost": 0.25, "reward": 0.25}
    assert typed["timestamp"] == 2.25 and typed["element"]["bbox"] == {"x": 10, "y": 20, "width": 100, "height": 20}
    assert typed["state"]["viewport"] == {"width": 900, "height": 600} and typed["state"]["scroll"]["y"] == 40
    assert source.recording.manifest["provenance"] == {"actor": "agent", "agent": "GenericAgent"}
    assert source.recording.manifest["started_at"].timestamp() == START_S
    assert source.turns[-2]["element"]["frame"] == ["a"]


def test_the_page_of_an_experiment_has_its_controls_and_no_secret(classes, tmp_path):
    write_experiment(tmp_path / "run", classes, ["click('3')", "click('3')"])
    source = only(tmp_path / "run", tmp_path)
    page = source.recording.blob(source.turns[-1]["state"]["dom"]).decode()
    assert "topsecret" not in page and 'value="[REDACTED]"' in page and "browsergym" not in page
    assert 'id="q" value="l"' in page and "Läden &amp; &lt;more&gt;" in page and 'value="2" selected' in page
    assert 'shadowrootmode="open"' in page and "srcdoc=" in page


def test_an_agent_that_keeps_only_text_of_the_page(classes, tmp_path):
    text = '<html bid="0"><button bid="12">Order</button></html>'
    write_experiment(tmp_path / "run", classes, ["click('12')"], dom_object=None, pruned_html=text)
    assert did(only(tmp_path / "run", tmp_path))[-1] == ("click", click(), "Order")


def test_tabs_that_the_page_opens_are_counted(classes, tmp_path):
    addresses = ("https://shop.example/", "https://shop.example/help")
    write_experiment(tmp_path / "run", classes, ["tab_focus(0)"], open_pages_urls=addresses,
                     open_pages_titles=("Shop", "Help"), active_page_index=numpy.array([1]))
    source = only(tmp_path / "run", tmp_path)
    assert did(source)[-1] == ("tabswitch", {"origin": 2, "target": 1}, None)
    assert source.turns[-1]["state"]["tab"] == 2 and source.turns[-1]["state"]["title"] == "Help"


def test_a_run_that_broke_off(classes, tmp_path):
    write_experiment(tmp_path / "run", classes, ["click('3')", "click('9')"])
    (tmp_path / "run" / "step_2.pkl.gz").unlink()
    source = only(tmp_path / "run", tmp_path)
    assert len(did(source)) == 3
    assert left_out(source) == {"last actions of runs that broke off: nothing says whether they were done": 1}


class Deed:
    """What Python does with a pickle of it: here a harmless one, which leaves a folder."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return __import__("os").mkdir, (self.path,)


def test_a_pickle_runs_nothing(classes, tmp_path):
    write_experiment(tmp_path / "run", classes, ["click('3')"], focused_element_bid=Deed(tmp_path / "ran"))
    (tmp_path / "run" / "exp_args.pkl").write_bytes(pickle.dumps(Deed(tmp_path / "ran")))
    assert len(only(tmp_path / "run", tmp_path).turns) == 3
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(("content", "words"), [
    (b"no gzip", "not packed with gzip"), (gzip.compress(b"no pickle"), "not a pickle"),
    (gzip.compress(pickle.dumps([1])), "not a step of an experiment"),
    (gzip.compress(bytes(200 << 20), 1), "larger than")], ids=["no gzip", "no pickle", "no step", "too large"])
def test_a_step_that_cannot_be_read_is_named(classes, tmp_path, content, words):
    write_experiment(tmp_path / "run", classes, ["click('3')"])
    (tmp_path / "run" / "step_0.pkl.gz").write_bytes(content)
    with pytest.raises(InputError, match=f"step_0.pkl.gz: {words}"):
        only(tmp_path / "run", tmp_path)


def test_a_link_in_a_folder_of_results_is_not_followed(classes, tmp_path):
    write_experiment(tmp_path / "elsewhere", classes, ["click('3')"])
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "run").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError):
        only(tmp_path / "study", tmp_path)


def arena_step(action, *, codes="", url="https://shop.example/", before="None", thought="I think", tabs="",
               page="[12] textbox 'Näme' required: False\n[31] button 'Order'"):
    """A step as RenderHelper of WebArena writes it: nothing is escaped."""
    picture = base64.b64encode(PICTURE).decode()
    return (f"<h2>New Page</h2>\n<h3 class='url'><a href={url}>URL: {url}</a></h3>\n"
            f"<div class='state_obv'><pre>{tabs or 'Tab 0 (current): Shop'}\n\n{page}</pre><div>\n"
            f"<img src='data:image/png;base64,{picture}' style='width:50vw; height:auto;'/>\n"
            f"<div class='prev_action' style='background-color:pink'>{before}</div>\n<div class='predict_action'>"
            f"<div class='raw_parsed_prediction' style='background-color:grey'><pre>{thought}</pre></div>"
            f"<div class='action_object' style='background-color:grey'><pre>{{'text': [{codes}]}}</pre></div>"
            f"<div class='parsed_action' style='background-color:yellow'><pre>{action}</pre></div></div>\n")


def write_arena(path, *steps):
    config = "task_id: 7\nintent: Order: a lamp\nstart_url: https://shop.example/\n"
    path.write_text(f"<!DOCTYPE html><body><pre>{config}</pre>\n{''.join(steps)}</body></html>", encoding="utf-8")
    return path


def test_a_trajectory_of_webarena(tmp_path):
    field = "where [12] is [12] textbox 'Näme' required: False"
    source = only(write_arena(
        tmp_path / "render_7.html", arena_step(f"type [12] [a ] where] {field}", codes="53, 15, 76"),
        arena_step(f"type [12] [Lamp ] {field}", codes="59, 80, 982", thought="</pre></div> <b>so"),
        arena_step("click [9] where [9] is No match found"),
        arena_step("click [31] where [31] is [31] button 'Order'"),
        arena_step("hover [31] where [31]", before='Attempt to perfom "click" on element "[31]" but'),
        arena_step("none"), arena_step("scroll [down]"), arena_step("press [ctrl+a]"), arena_step("new_tab"),
        arena_step("goto [https://shop.example/help]", tabs="Tab 0: Shop | Tab 1 (current): Help | me"),
        arena_step("page_focus [0]", tabs="Tab 0: Shop | Tab 1 (current): Help"), arena_step("go_back"),
        arena_step("stop [It costs [9]]")), tmp_path)
    assert source.recording.manifest["task"] == "Order: a lamp"
    assert did(source) == [
        ("textInput", {"text": "a ] where"}, "Näme"), ("textInput", {"text": "Lamp"}, "Näme"),
        ("press", {"key": "Enter"}, "Näme"), ("hover", click(), "Order"),
        ("scroll", {"x": 0.0, "y": 600.0, "delta": {"x": 0.0, "y": 600.0}}, None),
        ("press", {"key": "Control+a"}, None), ("tabcreate", {"tab": 2}, None),
        ("load", {"url": "https://shop.example/help", "transition": "typed"}, None),
        ("tabswitch", {"origin": 2, "target": 1}, None), ("back", {}, None), ("navigator", "It costs [9]")]
    assert left_out(source) == {"actions that failed": 2, "predictions that are no action": 1}
    assert source.turns[1]["agent"]["reasoning"] == "</pre></div> <b>so"
    assert source.turns[7]["state"]["title"] == "Help | me" and source.turns[7]["state"]["tab"] == 2


def test_a_set_of_marks_of_visualwebarena(tmp_path):
    page = "[] [StaticText] [Sale]\n[3] [A] [Lamps]\n[4] [INPUT] []"
    source = only(write_arena(
        tmp_path / "render_7.html", arena_step("click [3] where [3]", page=page),
        arena_step("type [4] [lamp\n] where [4]", page=page, codes="1, 2, 9000")), tmp_path)
    assert did(source) == [("click", click(), "Lamps"), ("textInput", {"text": "lamp"}, ""),
                           ("press", {"key": "Enter"}, "")]
    assert [turn["element"]["tag"] for turn in source.turns] == ["a", "input", "input"]


def write_voyage(folder, *answers, pictures=True, **trees):
    """A folder as WebVoyager writes it. An answer: what the model said, and what the program said to it."""
    folder.mkdir(parents=True)
    first = ("Now given a task: Find a lamp.  Please interact with https://shop.example/ and get the answer. \n"
             "Observation: please analyze the attached screenshot and give the Thought and Action.\n"
             '[0]: "Shop";\t[2]: <input> "Search", "Search the shop";\t[3]: "Say "hi"; now";')
    system = "Use the accessibility tree." if trees else "Numerical Labels"
    messages = [{"role": "system", "content": system}, {"role": "user", "content": [
        {"type": "text", "text": first}, {"type": "image_url", "image_url": {"url": "{b64_img}"}}]}]
    for number, (answer, reply) in enumerate(answers, 1):
        messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": reply}]
        if pictures:
            (folder / f"screenshot{number}.png").write_bytes(PICTURE)
    for number, tree in trees.items():
        (folder / f"accessibility_tree{number[1:]}.json").write_text(json.dumps(tree))
    (folder / "interact_messages.json").write_text(json.dumps(messages[:-1]))


SAW = "Observation: A screenshot and some texts. (Omitted in context.)"


def test_a_result_of_webvoyager(tmp_path):
    write_voyage(
        tmp_path / "results" / "taskShop--4", (
            "Thought: I search.\nIt is there.\n\nAction: Type [2]; [green lamp]", "The action you have chosen cannot"),
        ("Thought: Again.\nAction: Type [2]; green lamp", SAW), ("Thought: t\nAction: Scroll [WINDOW]; [down]", SAW),
        ("Thought: t\nAction: Scroll 3; up", SAW), ("Thought: t\nAction: Wait", SAW),
        ("Thought: t\nAction: GoBack", SAW), ("Thought: t\nAction: Google", SAW), ("Nothing", SAW),
        ("Thought: t\nAction: ANSWER; It costs 9.", ""))
    source = only(tmp_path / "results", tmp_path)
    assert source.recording.manifest["task"] == "Find a lamp."
    assert did(source) == [
        ("textInput", {"text": "green lamp"}, None), ("press", {"key": "Enter"}, None),
        ("scroll", {"x": 0.0, "y": 400.0, "delta": {"x": 0.0, "y": 400.0}}, None),
        ("press", {"key": "Alt+ArrowUp"}, None),
        ("back", {}, None), ("load", {"url": "https://www.google.com/", "transition": "typed"}, None),
        ("navigator", "It costs 9.")]
    assert left_out(source) == {"actions that failed": 1, "answers without an action": 1}
    assert source.turns[0]["agent"]["reasoning"] == "Again."


def test_marks_and_trees_of_webvoyager_name_the_target(tmp_path):
    write_voyage(tmp_path / "a", ("Thought: t\nAction: Type [2]; x", SAW))
    source = only(tmp_path / "a", tmp_path / "1")
    assert [(turn["element"]["tag"], turn["element"]["name"]) for turn in source.turns] == [
        ("input", "Search the shop")] * 2
    assert source.turns[0]["state"]["url"] == "https://shop.example/" and source.turns[0]["state"]["screenshot"]
    write_voyage(tmp_path / "b", ("Thought: t\nAction: Click [9]", SAW), t1={
        "9": {"backend_id": 3, "union_bound": [1, 2, 30, 40], "text": "[9] button 'Order it'"}})
    turn, = only(tmp_path / "b", tmp_path / "2").turns
    assert (turn["element"]["role"], turn["element"]["name"]) == ("button", "Order it")
    assert turn["arguments"]["x"] == 16 and turn["arguments"]["y"] == 22


@pytest.mark.parametrize(("name", "content", "words"), [
    ("interact_messages.json", "[1]", "not messages of WebVoyager"),
    ("interact_messages.json", '[{"role": "user", "content": "Hello"}]', "no message with the task"),
    ("interact_messages.json", "[", "not JSON")])
def test_messages_that_are_others_are_refused(tmp_path, name, content, words):
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / name).write_text(content)
    with pytest.raises(InputError, match=words):
        only(tmp_path / "task", tmp_path)


def test_a_page_of_another_program_is_not_recognised(tmp_path):
    (tmp_path / "render_1.html").write_text("<!DOCTYPE html><h2>New Page</h2>")
    assert list_items(tmp_path / "render_1.html") is None
