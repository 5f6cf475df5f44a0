"""What a state holds when the extension records: the same tests as of the recorder, driven in its browser."""

import pytest

from tests.recorder.browser import test_frames as frames_of_recorder
from tests.recorder.browser import test_outside
from tests.recorder.browser import test_state as of_recorder


@pytest.mark.parametrize("kind", frames_of_recorder.FRAMES)
def test_frames(chrome, site, kind):
    frames_of_recorder.test_frames(chrome, site, kind)


@pytest.mark.parametrize("mode", ["open", "closed"])
def test_shadow_content_is_in_the_snapshot(chrome, site, mode):
    of_recorder.test_shadow_content_is_in_the_snapshot(chrome, site, mode)


@pytest.mark.parametrize("test", [
    of_recorder.test_a_canvas_is_in_the_picture_and_is_clicked_with_coordinates,
    of_recorder.test_a_strict_policy_is_no_hindrance,
    of_recorder.test_acting_in_one_tab_while_another_paints,
    of_recorder.test_a_closed_root_of_an_element_that_is_defined_later_is_found,
    of_recorder.test_a_click_while_a_script_blocks_the_load,
    of_recorder.test_fifty_thousand_elements_stay_usable,
    of_recorder.test_values_and_scroll_offsets_set_by_script_are_in_the_snapshot,
], ids=lambda test: test.__name__.removeprefix("test_"))
def test_the_same_as_of_the_recorder(chrome, site, test):
    test(chrome, site)


def test_colours_are_true_however_early_the_hand_is_and_however_soon_all_ends(chrome, site):
    site.pages["/"] = "<body style='margin:0;height:100vh;background:rgb(0, 200, 0)'><button>Go</button>"
    session = chrome.record(lambda page: page.mouse.click(300, 200), url=site.origin + "/")
    (turn,) = [turn for turn in session.turns if turn["intent"] == "click"]
    blue, green, red = of_recorder.picture(session, turn)[400, 300]
    assert abs(int(green) - 200) < 8 and blue < 8 and red < 8


GREEN_BY_BT601 = """async () => {
  const { drawn } = await import("/offscreen/pixels.js");
  const bytes = new Uint8Array([117, 117, 117, 117, 70, 54]); // rgb(0, 200, 0), which is 2 by 2 pixels large
  const layout = [{ offset: 0, stride: 2 }, { offset: 4, stride: 1 }, { offset: 5, stride: 1 }];
  const colorSpace = { matrix: "bt709", primaries: "bt709", transfer: "bt709", fullRange: false };
  const canvas = await drawn({ bytes, layout, format: "I420", width: 2, height: 2, colorSpace });
  return Array.from(canvas.getContext("2d").getImageData(0, 0, 1, 1).data.slice(0, 3));
}"""


def test_frames_painted_without_a_graphics_card_are_read_by_bt601_before_colours_are_compared(chrome):
    red, green, blue = chrome.runner.run(chrome.panel.page.evaluate(GREEN_BY_BT601))
    assert abs(green - 200) < 8 and red < 8 and blue < 8


@pytest.mark.parametrize("reason", ("backdrop", "pseudo-element", "moved"))
def test_the_target_of_a_press_outside_says_why(chrome, site, reason):
    test_outside.test_the_target_says_why(chrome, site, reason, "frame")
