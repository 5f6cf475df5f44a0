"""Controls whose new value no action explains: those that a script sets, and no others."""

import pytest

from pipeline.checks import Material, count_unexplained_changes, find_checks

PAGE = """<!DOCTYPE html><title>Order</title><form onsubmit="event.preventDefault()"><input id=name placeholder=Name>
<select id=town><option>Rome<option>Oslo</select><select id=street><option>A</select><input type=checkbox id=news>
<label><input type=radio name=r id=slow checked> Slow</label><label><input type=radio name=r id=fast> Fast</label>
<input id=total readonly value=0><button id=go>Go</button><button type=reset id=reset>Reset</button></form>
<input id=chat><button id=send type=button>Send</button><script>
town.onchange = () => { street.innerHTML = '<option>B<option>C'; street.value = 'C'; total.value = 7 };
send.onclick = () => chat.value = '';
</script>"""


def unexplained(session) -> list[str]:
    found = find_checks(Material(session.turns, session.recording))
    return [check["reason"] for checks in found.values() for check in checks if check["kind"] == "unexplained-change"]


def test_what_a_person_does_is_explained(recording_browser, site):
    site.pages["/"] = PAGE

    async def user_actions(page):
        await page.fill("#name", "Ann")
        await page.select_option("#town", "Oslo")
        await page.click("#news")
        await page.click("text=Fast")
        await page.click("#chat")
        await page.keyboard.type("Hello")
        await page.click("#send")
        await page.click("#go")
        await page.click("#reset")
        await page.click("#go")

    assert unexplained(recording_browser.record(user_actions, url=site.origin)) == []


def test_what_a_script_sets_is_not(recording_browser, site):
    scripts = ["document.querySelector('#name').value = 'Ann'", "town.value = 'Oslo'", "news.checked = true",
               "fast.checked = true"]
    runs = "".join(f"() => {script}," for script in scripts)
    site.pages["/"] = PAGE.replace("</script>", f"let scripts = [{runs}]; setInterval(() => {{"
                                   "if (window.wanted) { scripts.shift()?.(); window.wanted = false } }, 20)</script>")

    async def user_actions(page):
        for _ in scripts:
            await page.click("#go")
            await page.evaluate("window.wanted = true")
            await page.wait_for_function("!window.wanted")
        await page.click("#go")

    reasons = unexplained(recording_browser.record(user_actions, url=site.origin))
    assert len(reasons) == len(scripts)
    assert "“Name”" in reasons[0]


WIDGET = """<!DOCTYPE html><title>Colours</title>
<select id=none style="display:none"><option>red<option>blue</select>
<input id=pixel style="position:absolute;width:1px;height:1px;padding:0;border:0">
<select id=shown><option>red<option>blue</select>
<select id=other><option>red<option>blue</select><button id=blue>Blue</button><script>
blue.onclick = () => { none.value = "blue"; pixel.value = "blue"; if (window.all) shown.value = "blue" };
</script>"""


@pytest.mark.parametrize("changes_all", [False, True])
def test_a_widget_sets_the_control_that_it_stands_for(recording_browser, site, changes_all):
    """As component libraries do: the list or field behind a widget is hidden. One that is shown is not the widget's."""
    site.pages["/"] = WIDGET.replace("if (window.all)", "if (true)" if changes_all else "if (false)")

    async def user_actions(page):
        await page.click("#blue")
        await page.click("#blue")

    assert len(unexplained(recording_browser.record(user_actions, url=site.origin))) == changes_all


PICKER = """<!DOCTYPE html><title>Dates</title><input id=date><input id=other>
<x-check id=check></x-check><p><button id=go>Go</button></p><div id=popup hidden><button id=next>Next</button>
<span id=day>17</span></div><script>
customElements.define('x-check', class extends HTMLElement { constructor() { super();
  this.attachShadow({ mode: 'open' }).innerHTML = '<input type=checkbox hidden><div id=face>[ ]</div>';
  this.onclick = () => this.shadowRoot.querySelector('input').toggleAttribute('checked') } });
date.onclick = () => popup.hidden = false;
day.onclick = () => { date.value = '17'; popup.hidden = true };
</script>"""


def test_what_is_chosen_in_a_popup_or_by_a_drawn_control_is_explained(recording_browser, site):
    site.pages["/"] = PICKER

    async def user_actions(page):
        await page.click("#date")
        await page.click("#next")
        await page.click("#day")
        await page.click("#face")
        await page.click("#go")

    session = recording_browser.record(user_actions, url=site.origin)
    assert unexplained(session) == []


@pytest.mark.parametrize("script", ["other.value = '17'", "date.value = ''"])
def test_what_is_no_widgets_work_is_not(recording_browser, site, script):
    """Another field than the one that opened the popup, and one that is emptied."""
    site.pages["/"] = PICKER.replace("date.value = '17'", script).replace("<input id=date>", "<input id=date value=1>")

    async def user_actions(page):
        await page.click("#date")
        await page.click("#day")
        await page.click("#go")

    assert len(unexplained(recording_browser.record(user_actions, url=site.origin))) == 1


def test_a_hidden_control_is_not_set_by_what_a_driver_does_by_script(recording_browser, site):
    site.pages["/"] = WIDGET

    async def user_actions(page):
        await page.evaluate("shown.value = 'blue'; shown.dispatchEvent(new Event('change', {bubbles: true}))")
        await page.evaluate("none.value = 'blue'")
        await page.evaluate("other.value = 'blue'; other.dispatchEvent(new Event('change', {bubbles: true}))")

    session = recording_browser.record(user_actions, url=site.origin)
    assert [turn.get("trusted") for turn in session.turns if turn["intent"] == "change"] == [False, False]
    assert len(unexplained(session)) == 1


def test_a_field_that_is_emptied_after_any_click_is_not(recording_browser, site):
    """A driver has emptied it by script, without an event, as Puppeteer does: the page had sent nothing."""
    frame = f"<iframe src='{site.other_origin}/frame'></iframe>"
    site.pages |= {"/": PAGE + frame, "/frame": "<button id=pay>Pay</button>"}

    async def user_actions(page):
        await page.fill("#name", "Ann")
        for where in (page, page, page.frame_locator("iframe"), page):
            await where.locator("#send, #pay").click()
            if where is not page:
                await page.evaluate("document.querySelector('#name').value = ''")

    assert len(unexplained(recording_browser.record(user_actions, url=site.origin))) == 1


@pytest.mark.parametrize("step", ["back", "reload"])
def test_what_the_browser_restores_is_explained(recording_browser, site, step):
    """The values return in a later state of the page, as those of a frame that loads after it."""
    frame = "<!DOCTYPE html><input id=city placeholder=City>"
    site.pages |= {"/": f"<!DOCTYPE html><button id=go>Go</button><iframe src='{site.other_origin}/frame'></iframe>"
                        "<a href=/next>Next</a>", "/frame": frame, "/next": "<!DOCTYPE html><button id=ok>OK</button>"}

    async def user_actions(page):
        city = page.frame_locator("iframe").locator("#city")
        await city.fill("Rome")
        await page.click("#go")
        if step == "back":
            await page.click("a")
            await page.click("#ok")
            await page.go_back()
        else:
            await page.reload()
        await page.click("#go")  # before or after the frame shows the value
        await city.evaluate("field => { field.value = 'Rome' }")  # a browser without a window may not restore it
        await page.click("#go")
        await page.click("#go")

    assert unexplained(recording_browser.record(user_actions, url=site.origin)) == []


@pytest.mark.parametrize("step", ["back", "reload"])
def test_what_a_script_sets_after_a_step_is_not(recording_browser, site, step):
    site.pages |= {"/": "<!DOCTYPE html><button id=go>Go</button><input id=city><a href=/next>Next</a>",
                   "/next": "<!DOCTYPE html><button id=ok>OK</button>"}

    async def user_actions(page):
        await page.fill("#city", "Rome")
        await page.click("#go")
        if step == "back":
            await page.click("a")
            await page.click("#ok")
            await page.go_back()
        else:
            await page.reload()
        await page.click("#go")
        await page.evaluate("() => { document.querySelector('#city').value = 'Oslo' }")
        await page.click("#go")

    session = recording_browser.record(user_actions, url=site.origin)
    assert len(unexplained(session)) == 1
    material = Material(session.turns, session.recording)
    assert count_unexplained_changes(material, limit_s=60) == (1, True)
    assert count_unexplained_changes(material, limit_s=-1)[1] is False
