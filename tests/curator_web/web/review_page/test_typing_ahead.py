"""What is typed faster than the answers come goes to where it was meant."""

from playwright.sync_api import expect

from .conftest import open_review


def open_and_type(page, site, demonstration, view: str, key: str, text: str) -> None:
    """Open a turn, a view of it by its key, and type on before the answer has come."""
    held = []
    # Before the page is there, or its requests may pass the route by.
    page.route(f"**view={view}*", lambda route: held.append(route))
    open_review(page, site, demonstration, "t4")
    page.screenshot()  # it has been painted: before that the browser hands a page no keys
    with page.expect_request(f"**view={view}*"):
        page.keyboard.press(key)
    page.keyboard.type(text)
    (answer,) = held
    answer.continue_()


def test_letters_before_the_list_of_targets_has_come_are_what_is_looked_for(page, site, demonstration):
    """Among them `d`, which drops the turn where no field has the focus, and letters that stand for nothing."""
    open_and_type(page, site, demonstration, "targets", "t", "dom Q")
    expect(page.get_by_label("Find by name, role or number")).to_have_value("dom Q")
    expect(page.locator("#target-list label:visible")).to_have_count(0)
    page.keyboard.type("x")
    expect(page.get_by_label("Find by name, role or number")).to_have_value("dom Qx")
    assert not site.turns(demonstration)[3]["dropped"]


def test_letters_before_the_tree_has_come_lead_to_its_lines(page, site, demonstration):
    open_and_type(page, site, demonstration, "tree", "Shift+T", "pd")
    expect(page.locator("#tree [role=treeitem]:focus code")).to_have_text("p")
    assert not site.turns(demonstration)[3]["dropped"]
