"""The session is split at the selected turn by keys; undo, or joining the parts later, makes it one again."""

from playwright.sync_api import expect

from curator_web.demonstrations.library.library import current, listed
from curator_web.demonstrations.workflow.editing import add_edit
from curator_web.demonstrations.workflow.workflow import change_status
from curator_web.users import Account

from .conftest import open_review, saved, selected, shown_order


def test_a_session_is_split_by_keys_and_made_one_again(page, site, demonstration):
    open_review(page, site, demonstration, "t1")
    expect(page.get_by_role("button", name="Split session…")).to_be_disabled()
    page.keyboard.press("End")
    page.keyboard.press("k")
    expect(page.locator("#turn")).to_have_attribute("data-turn", "t5")
    page.keyboard.press("Shift+X")
    dialog = page.get_by_role("dialog", name="Split the session before turn 5")
    expect(dialog).to_contain_text("Turns 5 to 6 become a separate demonstration")
    page.keyboard.press("Control+a")
    page.keyboard.type("Choose a date")
    with saved(page):
        page.keyboard.press("Control+Enter")
    expect(page.locator("#turns [data-turn]")).to_have_count(4)
    assert selected(page) == "t4" and site.ids(demonstration) == ["t1", "t2", "t3", "t4"]
    page.keyboard.press("l")  # what the last action led to is seen where the other one begins
    expect(page.locator(".caption")).to_contain_text("before the next turn in this tab, submit, which was split off")
    expect(page.locator("#screen-after img")).to_be_visible()
    part = f"{demonstration}~p1"
    expect(page.locator("#notice")).to_contain_text(f"are now the demonstration {part}")
    page.get_by_role("link", name=part).click()
    expect(page.locator("h1")).to_have_text("Choose a date")
    assert shown_order(page) == ["t5", "t6"] and current(site.db, part)["recording"] == demonstration
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()  # its task
    page.goto(f"{site.url}demonstrations/{part}/changes")
    expect(page.locator(".log")).to_contain_text("Split off")
    expect(page.get_by_text("merged into another")).to_have_count(0)
    open_review(page, site, demonstration, "t1")
    with saved(page):
        page.keyboard.press("u")
    expect(page.locator("#turns [data-turn]")).to_have_count(6)
    assert selected(page) == "t5" and listed(site.db, part).project == ""
    with saved(page):
        page.keyboard.press("Shift+U")
    expect(page.locator("#turns [data-turn]")).to_have_count(4)
    assert selected(page) == "t4" and shown_order(page)[-1] == "t4"


def test_parts_are_joined_by_keys_with_what_was_done_to_them(page, site, demonstration):
    part = f"{demonstration}~p1"
    add_edit(site.db, demonstration, {"op": "end_before", "turn": "t5", "task": "Choose a date"}, 1)
    add_edit(site.db, part, {"op": "drop", "turn": "t6"}, 1)
    open_review(page, site, part, "t5")
    expect(page.get_by_text(f"Continues {demonstration}")).to_be_visible()
    expect(page.get_by_role("button", name="Join them")).to_have_count(0)
    open_review(page, site, demonstration, "t2")
    page.keyboard.press("Shift+M")
    dialog = page.get_by_role("dialog", name=f"Join with {part}")
    expect(dialog).to_contain_text("Its 2 turns will be appended")
    expect(dialog).to_contain_text("The other session: “Choose a date”")
    page.keyboard.press("Control+a")
    page.keyboard.type("Book on a date")
    with saved(page):
        page.keyboard.press("Control+Enter")
    expect(page.locator("#turns [data-turn]")).to_have_count(6)
    expect(page.locator("#turns .dropped")).to_have_count(1)
    expect(page.locator("h1")).to_have_text("Book on a date")
    expect(page.locator("#notice")).to_contain_text(f"the turns of {part} were appended")
    expect(page.get_by_role("button", name="Join them")).to_have_count(0)
    page.goto(f"{site.url}demonstrations/{demonstration}/changes")
    expect(page.locator(".log tbody tr").first).to_contain_text(f"in {part}")
    open_review(page, site, demonstration, "t6")
    with saved(page):
        page.keyboard.press("u")
    expect(page.locator("#turns [data-turn]")).to_have_count(4)
    assert selected(page) == "t4" and site.ids(part) == ["t5", "t6"]
    alone = Account("local", "lead", alone=True)
    change_status(site.db, part, "invalid", listed(site.db, part).version, alone, "No date")
    page.keyboard.press("Shift+M")
    with saved(page):
        page.get_by_role("button", name="Join", exact=True).click()
    expect(page.locator("#notice")).to_contain_text("its status is invalid, the status of this one is draft")
    page.problems.clear()  # the browser logs the refusal
