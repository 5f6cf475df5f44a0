"""What rendered pages show of what the extension records: the same tests as of the recorder, driven in its browser."""

import pytest

from tests.recorder.rendered_pages import test_animations as animations
from tests.recorder.rendered_pages import test_nesting as nesting
from tests.recorder.rendered_pages import test_scrolled as scrolled
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
