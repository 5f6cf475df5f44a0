"""Each state checks itself: its rendered page is compared with its screenshot."""

from click.testing import CliRunner

from demotape.cli import main
from pipeline import refresh
from pipeline.rendered_comparison import measure
from pipeline.verify import verify
from recorder import Recording
from tests.support.samples.sessions import painted

PAGE = """<!DOCTYPE html><title>t</title><style>main { height: 500px } %s</style><main><p>Some text</p>
<input type=password value=secret><button id=go>Go</button></main>"""
# What only the pointer shows: a rendered page does not have it.
HOVERED = """main:hover { background: repeating-linear-gradient(red 0 5px, white 5px 9px) }
main:hover p { font-size: 90px }"""


def recorded(recording_browser, site, style: str):
    site.pages["/"] = PAGE % style

    async def user_actions(page):
        await page.mouse.move(20, 300)
        await page.wait_for_function("document.querySelector('main').matches(':hover')")
        await painted(page)  # else the screenshot before the key may be of the page without the pointer
        await page.evaluate("document.getElementById('go').focus()")
        await page.keyboard.press("Enter")

    session = recording_browser.record(user_actions, url=site.origin + "/")
    directory = session.recording.layout.root
    refresh(directory)
    return directory


def kinds(demonstration) -> list[str]:
    return [check["kind"] for turn in demonstration["turns"] for check in turn["checks"]]


def values(demonstration) -> list[float]:
    return [turn["state"]["render_similarity"] for turn in demonstration["turns"]
            if turn["type"] == "browser" and turn["state"] and "render_similarity" in turn["state"]]


def screenshots(directory) -> list:
    """What is known of the picture of each state, for the message of a test that fails."""
    names = ("stale", "stale_because", "screenshot_time", "unchanged_until")
    return [(event["time"], {name: event["state"].get(name) for name in names})
            for event in Recording(directory).events if event.get("state")]


def test_a_page_that_is_rendered_as_it_was_has_no_check(recording_browser, site):
    directory = recorded(recording_browser, site, "")
    demonstration = measure(Recording(directory))
    assert min(values(demonstration)) > 0.98
    assert "rendered-differently" not in kinds(demonstration)


def test_a_page_that_is_rendered_differently_has_a_check_that_stays(recording_browser, site):
    """Also when it is processed again, and measured again; the recording is whole, and not processed without need."""
    directory = recorded(recording_browser, site, HOVERED)
    result = CliRunner().invoke(main, ["check", "--rendered", str(directory)])
    assert result.exit_code == 0 and "below 0.9" in result.output, screenshots(directory)
    assert refresh(directory)[1] is False
    again = measure(Recording(directory))
    assert kinds(again).count("rendered-differently") == 1 and min(values(again)) < 0.9
    anew, is_new = refresh(directory, speakers={"Ann": "instructor"})
    assert is_new and values(anew) == values(again) and kinds(anew) == kinds(again)
    assert verify(directory) == []
