"""A demonstration that is run again on the real site: `demotape replay run --live`."""

import json
import subprocess
import sys
from pathlib import Path

from tests.support.services.site import Site

COMMAND = Path(sys.executable).parent / "demotape"
SHOP = """<!DOCTYPE html><title>Shop</title><form method=post action=/orders><label>Lamp <input name=lamp></label>
<button>Order</button></form>"""


async def order(page):
    await page.get_by_label("Lamp").click()
    await page.keyboard.type("Floor lamp")
    await page.get_by_role("button", name="Order").click()
    await page.get_by_text("order 1").wait_for()


def test_it_is_run_on_the_site_as_that_is_now(recording_browser):
    asked, told = [], ["You have order 1"]
    site = Site({"/": SHOP, "/orders": lambda request: asked.append(request) or f"<title>Thanks</title><p>{told[0]}"})

    def run():
        done = subprocess.run([COMMAND, "replay", "run", "--live", "--json", root], capture_output=True, text=True)
        return done.returncode, json.loads(done.stdout)[0]

    try:
        root = recording_browser.record(order, url=site.origin + "/").recording.layout.root  # no network is needed
        assert len(asked) == 1
        code, proof = run()
        assert (code, proof["verdict"], proof["live"], len(asked)) == (0, "same", True, 2), proof
        told[0] = "Sold out"
        code, proof = run()
        assert (code, proof["verdict"], len(asked)) == (1, "differs", 3)
        assert "is missing" in proof["turns"][-1]["reason"]
    finally:
        site.close()


SCRIPTED = """<!DOCTYPE html><title>Shop</title><form action=/orders><label>Lamp <input name=lamp></label>
<label>Day <input type=date name=day></label><select name=size aria-label=Size><option value=s>Small
<option value=l>Large</select><label><input type=checkbox name=gift>Gift</label><x-card></x-card></form>
<iframe srcdoc="<button onclick='this.textContent = 1'>More</button>"></iframe>
<script>customElements.define("x-card", class extends HTMLElement { constructor() { super();
this.attachShadow({mode: "open"}).innerHTML = "<button>Order</button>";
this.shadowRoot.firstChild.onclick = () => document.forms[0].submit() } })</script>"""


def step(kind, *selectors, **fields):
    return {"type": kind, "target": "main", "selectors": [list(selector) for selector in selectors], **fields}


def test_a_recorded_script_is_run_and_recorded(tmp_path):
    """With selectors alone, as Chrome DevTools' Recorder and Selenium IDE have them."""
    orders: list[str] = []

    def ordered(request):
        orders.append(request.path)
        return "<!DOCTYPE html><title>Thanks</title><p>Thank you"

    site = Site({"/": SCRIPTED, "/orders": ordered})
    flow, side = tmp_path / "flow.json", tmp_path / "shop.side"
    flow.write_text(json.dumps({"title": "Order", "steps": [
        {"type": "navigate", "url": site.origin + "/"}, step("click", ["aria/Lamp"], ["input"]),
        step("change", ["aria/Lamp"], ["input"], value="Floor lamp"),
        step("change", ['aria/Day[role="textbox"]'], ["form > label:nth-of-type(2) > input"], value="2026-12-24"),
        step("change", ["aria/Size"], ["select"], value="l"), step("click", ["aria/More"], ["button"], frame=[0]),
        step("click", ["aria/Order"], ["x-card", "button"])]}))
    side.write_text(json.dumps({"id": "p", "url": site.origin, "tests": [{"id": "t", "name": "Order", "commands": [
        {"command": command, "target": target, "value": value, "targets": []} for command, target, value in (
            ("open", "/", ""), ("type", "name=lamp", "Desk lamp"), ("select", "name=size", "label=Large"),
            ("check", "css=input[type=checkbox]", ""))]}], "commands": []}))
    try:
        done = subprocess.run([COMMAND, "replay", "run", "--live", "--out", tmp_path / "runs", flow, side],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert orders == ["/orders?lamp=Floor+lamp&day=2026-12-24&size=l"]
        runs = sorted((tmp_path / "runs").iterdir())
        done = subprocess.run([COMMAND, "process", *runs], capture_output=True, text=True)
        assert "0 to look at, 0 unexplained changes" in done.stdout, done.stdout + done.stderr
    finally:
        site.close()
