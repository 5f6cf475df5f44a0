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
