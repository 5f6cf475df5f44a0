"""What rendered pages show of what the extension records: the same tests as of the recorder, driven in its browser."""

from functools import partial

import pytest

from tests.recorder.rendered_pages import test_animations as animations
from tests.recorder.rendered_pages import test_nesting as nesting
from tests.recorder.rendered_pages import test_scrolled as scrolled
from tests.recorder.rendered_pages import test_state_of_scripts as state_of_scripts
from tests.recorder.rendered_pages import test_top_layer as top_layer


@pytest.mark.parametrize("inner", [f"{animations.STILL}{animations.MOVING}", animations.ROOT],
                         ids=["frame", "shadow-root"])
def test_what_an_animation_moves_is_told_where_it_is(chrome, site, inner):
    animations.test_what_an_animation_moves_is_told_where_it_is(chrome, site, inner)


def test_what_scripts_scroll_in_a_shadow_root_is_scrolled(chrome, recording_browser, site):
    scrolled.test_what_scripts_scroll_in_a_shadow_root_is_scrolled(chrome, site, recording_browser)


def test_what_no_text_can_have_is_rendered_as_it_was(chrome, recording_browser, site):
    site.pages["/"] = nesting.PAGE % nesting.PARAGRAPHS
    trees: list = []
    session = chrome.record(lambda page: nesting.trees_of(page, trees), url=site.origin + "/")
    assert [tree for tree, _ in nesting.shown_trees(recording_browser, session)] == [tree for tree, _ in trees]


@pytest.mark.parametrize(("opener", "inside", "kind"), [
    ("m", "in-modal", "modal"), ("p", "in-pop", "popover-open"), ("s", "in-shadow", "popover-open")])
def test_what_was_in_the_top_layer_is_there_in_the_rendered_page(chrome, recording_browser, site, opener, inside, kind):
    top_layer.test_what_was_in_the_top_layer_is_there_in_the_rendered_page(
        chrome, site, opener, inside, kind, recording_browser)


# Of each kind of state one: the capture script is the same, but not where resources and texts of sheets come from.
OF_SCRIPTS = ("rule-changed-in-place", "link-rule-changed", "link-alternate", "adopted-in-document-and-root",
              "last-child-before-a-script", "custom-state-in-adopted-sheet", "manual-slots", "animation-ended",
              "registered-property", "highlights", "sprites", "blob-picture", "indeterminate")


@pytest.mark.parametrize("name", OF_SCRIPTS)
def test_state_of_scripts_is_rendered(chrome, recording_browser, site, name):
    state_of_scripts.test_a_rendered_page_looks_as_the_page_did(
        chrome, site, name, recording_browser, partial(chrome.seen, 1))
