"""Questions of a labelling scheme on the review page, by keys: one for an answer once a question has the focus."""

import re

import pytest
from playwright.sync_api import Page, expect

from curator_web.demonstrations.library.library import import_recording
from curator_web.demonstrations.schemes import versions
from curator_web.demonstrations.schemes.answers import answers_of
from curator_web.demonstrations.schemes.prelabels import save_prelabels
from curator_web.users import Account
from tests.support.curator.curator_fixtures import make_recording

from .conftest import open_review, selected

ALONE = Account("local", "lead", alone=True)
SCHEME = """
questions:
  - {name: clear, question: Is it clear, scope: turn, kind: scale, minimum: 0, maximum: 5}
  - {name: success, question: Was it done, scope: demonstration, kind: choice, options: [done, failed], required: true}
  - {name: causes, question: Why, scope: demonstration, kind: several, options: [a, b, c], when: {success: failed}}
  - {name: note, question: Note, scope: demonstration, kind: text}
"""
SPANS = "questions: [{name: errors, question: Where, scope: demonstration, kind: span}]"


@pytest.fixture
def asked(site, tmp_path) -> str:
    """A demonstration of a project with a scheme."""
    versions.save(site.db, SCHEME, ALONE)
    return import_recording(site.db, site.store, make_recording(tmp_path, recording_id=f"rec-{tmp_path.name}")).id


def answers(site, demonstration: str) -> dict[tuple[str, str], object]:
    with site.db.reading() as session:
        return {(each.question, each.turn): each.value for each in answers_of(session, [demonstration])}


def press(page: Page, *keys: str) -> None:
    """Press keys that answer something, each when the answer before is saved."""
    for key in keys:
        with page.expect_response(re.compile("/answers$")):
            page.keyboard.press(key)


def question(page: Page, name: str):
    return page.locator(f'[data-question="{name}"]')


def test_a_choice_takes_a_key_and_the_next_question_gets_the_focus(page, site, asked):
    open_review(page, site, asked, "t3")
    page.keyboard.press("Shift+Q")
    expect(question(page, "clear")).to_be_focused()
    page.keyboard.press("4")
    expect(question(page, "success")).to_be_focused()
    page.keyboard.press("2")
    expect(question(page, "causes")).to_be_focused()
    press(page, "3", "1")
    expect(question(page, "causes").get_by_role("checkbox", checked=True)).to_have_count(2)
    expect(question(page, "causes")).to_be_focused()
    press(page, "3")
    expect(question(page, "causes").get_by_role("checkbox", checked=True)).to_have_count(1)
    assert answers(site, asked) == {("clear", "t3"): 4, ("success", ""): "failed", ("causes", ""): ["a"]}
    page.keyboard.press("Shift+Q")
    expect(question(page, "note").get_by_role("textbox")).to_be_focused()
    page.keyboard.type("j is a letter here")
    press(page, "Enter")
    assert answers(site, asked)[("note", "")] == "j is a letter here" and selected(page) == "t3"


def test_the_questions_of_turn_after_turn_take_two_keys_each(page, site, asked):
    open_review(page, site, asked, "t1")
    page.keyboard.press("Shift+Q")
    press(page, "1")
    for number, digit in ((2, "5"), (3, "0"), (4, "2")):
        page.keyboard.press("j")
        expect(page.locator("#turn")).to_have_attribute("data-turn", f"t{number}")
        expect(question(page, "clear")).to_be_focused()
        press(page, digit)
        expect(question(page, "success")).to_be_focused()
    assert answers(site, asked) == {("clear", f"t{number}"): value for number, value in enumerate((1, 5, 0, 2), 1)}


def test_keys_typed_ahead_answer_the_questions_that_they_lead_to(page, site, asked):
    open_review(page, site, asked, "t3")
    with page.expect_response(lambda response: "causes" in (response.request.post_data or "")):
        for key in ("Shift+Q", "4", "2", "1"):  # before the server has answered: the second makes a question appear
            page.keyboard.press(key)
    assert answers(site, asked) == {("clear", "t3"): 4, ("success", ""): "failed", ("causes", ""): ["a"]}


def test_the_same_digit_takes_an_answer_back_and_escape_leaves(page, site, asked):
    open_review(page, site, asked, "t3")
    page.keyboard.press("Shift+Q")
    page.keyboard.press("4")
    expect(question(page, "success")).to_be_focused()
    question(page, "clear").focus()
    page.keyboard.press("4")
    expect(question(page, "clear")).to_have_attribute("data-open", "")
    assert answers(site, asked) == {}
    page.keyboard.press("Escape")
    expect(page.locator("#turns [aria-current]")).to_be_focused()
    page.keyboard.press("2")
    page.keyboard.press("j")  # digits count again
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t5")


def test_approving_waits_for_required_answers(page, site, asked):
    open_review(page, site, asked, "t3")
    with page.expect_response(lambda response: response.status == 400):
        page.keyboard.press("a")
    expect(page.get_by_role("alert")).to_contain_text("Required questions have no answer: success.")
    page.problems.clear()  # the browser reports the refusal
    question(page, "success").get_by_role("radio", name="done").check()
    expect(question(page, "success").get_by_role("radio", name="done")).to_be_checked()
    page.locator("#turns [aria-current]").focus()
    with page.expect_navigation():
        page.keyboard.press("a")
    assert site.db is not None and answers(site, asked) == {("success", ""): "done"}


def test_enter_confirms_what_is_suggested(page, site, asked):
    save_prelabels(site.db, "model-7", [{"demonstration": asked, "question": "clear", "turn": "t3", "value": 3}],
                   Account("local", "lead"))
    open_review(page, site, asked, "t3")
    page.keyboard.press("Shift+Q")
    expect(question(page, "clear")).to_contain_text("model-7 suggests: 3")
    press(page, "Enter")
    expect(question(page, "success")).to_be_focused()
    expect(question(page, "clear").get_by_role("radio", name="3")).to_be_checked()
    assert answers(site, asked) == {("clear", "t3"): 3}


def test_a_span_is_marked_from_turn_to_turn(page, site, asked):
    versions.save(site.db, SPANS, ALONE)
    open_review(page, site, asked, "t2")
    page.keyboard.press("Shift+Q")
    press(page, "1")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t4")
    expect(question(page, "errors")).to_be_focused()
    press(page, "2")
    expect(question(page, "errors")).to_contain_text("Turns 2–4")
    assert answers(site, asked) == {("errors", ""): [{"first": "t2", "last": "t4"}]}
    press(page, "1", "3", "3")
    assert answers(site, asked) == {}
