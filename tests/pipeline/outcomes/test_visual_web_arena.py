"""VisualWebArena's task files: every rule read, what cannot be evaluated named, and written back the same."""

import pytest

from pipeline.outcomes.benchmark_tasks import visual_web_arena
from pipeline.outcomes.checking import score
from pipeline.outcomes.evidence import Evidence, PageState
from schemas import InputError

PAGE = PageState("http://127.0.0.1:9980/index.php?page=item&id=7",
                 lambda: "<h1>Blue bike</h1><p class=price>1,200 $</p>")


def task(evaluation, **more):
    return {"sites": ["classifieds"], "task_id": 3, "start_url": "__CLASSIFIEDS__ |AND| __CLASSIFIEDS__/b",
            "intent": "Find", "image": None, "eval": evaluation} | more


def read(evaluation, find=lambda address: None):
    return visual_web_arena.read(task(evaluation), "task.json", find, {"__CLASSIFIEDS__": "http://127.0.0.1:9980"})


def answers(**rules):
    return {"eval_types": ["string_match"], "reference_answers": rules}


def html(locator="", url="last", **rules):
    program = {"url": url, "locator": locator, "required_contents": rules}
    return {"eval_types": ["program_html"], "program_html": [program]}


@pytest.mark.parametrize("evaluation, answer, value", [
    (answers(exact_match="Blue"), "'blue'", 1), (answers(exact_match="Blue"), "blue bike", 0),
    (answers(must_include=["blue |OR| red", "bike"]), "A red bike", 1), (answers(must_include=["0"]), "10", 0),
    (answers(must_exclude=["red"]), "A red bike", 0), (answers(one_of=["red", "blue"]), "infrared", 1),
    (answers(required_values=[">= 12", "< 700 |OR| == 900"]), "900", 1),
    (answers(required_values=["== 3"]), "three", 0),
    (answers(fuzzy_match="N/A"), "n/a", 1), (answers(fuzzy_match="N/A"), "none", 0),
    (answers(fuzzy_match=["a bike"]), "a bicycle", None),
    (answers(exact_match="x", fuzzy_match="y"), "z", 0),
    (answers(fuzzy_match="N/A") | {"string_note": "there is none"}, "N/A", 1),
    (answers(fuzzy_match="N/A") | {"string_note": "there is none"}, "no such bike", None),
    ({"eval_types": ["url_match"], "reference_url": "__CLASSIFIEDS__/index.php?page=item&id=7/"}, "", 1),
    ({"eval_types": ["url_match"], "reference_url": "__CLASSIFIEDS__/x |OR| page=item", "url_note": "GOLD in PRED"},
     "", 1),
    ({"eval_types": ["url_match"], "reference_url": "http://localhost:9980/index.php"}, "", 0),
    (html(must_include=["Blue bike", "1,200 |OR| 1200"]), "", 1), (html(must_exclude=["sold"]), "", 1),
    (html(url="__CLASSIFIEDS__/index.php?page=item&id=7", exact_match="x"), "", 0),
    (html(url="__CLASSIFIEDS__/other", must_include=["x"]), "", None),
    (html(url="func:last()", must_include=["x"]), "", None), (html("lambda:page => 1", must_include=["x"]), "", None),
    (answers(exact_match="a") | {"eval_types": ["string_match", "url_match"], "reference_url": "x"}, "a", 0),
])
def test_a_task_is_scored(evaluation, answer, value):
    found = read(evaluation)
    assert score(found.outcome, Evidence([PAGE], answer)).value == value
    assert found.start_urls == ("http://127.0.0.1:9980", "http://127.0.0.1:9980/b")


def test_what_differs_from_the_published_evaluators_is_told():
    found = read(html(exact_match="a", must_include=["b"]))
    assert "looks at exact_match only" in found.notes[0]
    assert "program of the benchmark" in read(html("func:shop()", must_include=["b"])).notes[0]


def pictures(**query):
    return {"eval_types": ["page_image_query"], "page_image_query": [{"eval_image_url": "last", **query}]}


def test_questions_about_pictures():
    known = {"https://a.example/bike.png": "a" * 64}.get
    found = read(pictures(eval_image_class="item", eval_fuzzy_image_match="https://a.example/bike.png"), known)
    assert found.outcome["checks"] == [{"kind": "picture", "picture": "a" * 64, "css": ".item img, img.item"}]
    found = read(pictures(eval_fuzzy_image_match=["https://a.example/bike.png", "https://a.example/x.png"],
                          ssim_threshold=0.9), known)
    kinds = [each["kind"] for each in found.outcome["checks"][0]["checks"]]
    assert found.outcome["checks"][0]["checks"][0]["least"] == 0.9 and kinds == ["picture", "unknown"]
    assert read(pictures(eval_fuzzy_image_match="x.png")).outcome["checks"][0]["kind"] == "unknown"
    assert "vision model" in read(pictures(eval_vqa=[{"question": "?", "answer": "!"}])).notes[0]


@pytest.mark.parametrize("evaluation, field", [
    (None, "eval"), ({}, "eval.eval_types"), ({"eval_types": ["x"]}, "eval.eval_types"),
    ({"eval_types": ["string_match"]}, "eval.reference_answers"), (answers(melts="x"), "eval.reference_answers.melts"),
    (answers(must_include=[]), "must_include"), (answers(must_include=[{}]), "must_include"),
    ({"eval_types": ["url_match"]}, "eval.reference_url"),
    ({"eval_types": ["url_match"], "reference_url": "x", "url_note": "y"}, "eval.url_note"),
    ({"eval_types": ["program_html"]}, "eval.program_html"), (html("page.title()", must_include=["x"]), "locator"),
    (html(), "required_contents"), ({"eval_types": ["page_image_query"], "page_image_query": [1]}, "page_image_query")])
def test_a_task_that_is_none_names_the_field(evaluation, field):
    with pytest.raises(InputError, match=rf"task\.json: field .*{field.replace('.', '[.]')}"):
        read(evaluation)


@pytest.mark.parametrize("evaluation", [
    answers(exact_match="Blue"), answers(must_include=["a |OR| b", "c"], must_exclude=["d"]),
    answers(required_values=[">= 12"]), {"eval_types": ["url_match"], "reference_url": "http://a.example/x"},
    {"eval_types": ["url_match"], "reference_url": "a |OR| b", "url_note": "GOLD in PRED"}, html(must_include=["x"]),
    html("document.querySelector('p').innerText", exact_match="x")])
def test_written_and_read_again_it_is_the_same(evaluation):
    first = read(evaluation)
    written, left = visual_web_arena.write(first.outcome, "Find", first.start_urls)
    assert left == [] and visual_web_arena.read(written, "written").outcome == first.outcome


def test_what_a_task_cannot_say_is_named():
    url = {"kind": "url", "match": {"exact": ["http://a.example"]}}
    text = {"kind": "text", "css": "#a", "match": {"includes": [["b"]]}}
    request = {"kind": "request", "match": {"exact": ["http://a.example"]}}
    written, left = visual_web_arena.write({"checks": [{"kind": "all", "checks": [url, text]}, request]}, "Find", ["x"])
    assert written["eval"]["eval_types"] == ["url_match", "program_html"] and "nothing for request" in left[0]
    assert "querySelectorAll" in written["eval"]["program_html"][0]["locator"]
    with pytest.raises(InputError, match="none of the outcome checks"):
        visual_web_arena.write({"checks": [request]}, "Find", ["x"])
