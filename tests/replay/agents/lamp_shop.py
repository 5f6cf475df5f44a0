"""A recorded order in a shop that notices what attempts share: visits, cookies and a channel between pages."""

from replay.agents.tasks import RecordedTask, read_task
from schemas.files import dump_json
from tests.support.services.site import Site

SHOP = """<!DOCTYPE html><title>Shop</title><h1>Shop</h1><p id=visits></p><form method=post action=/orders>
<label>Lamp <input name=lamp></label><label>Size <select name=size><option>Small<option>Large</select></label>
<button>Order</button></form><div style="height: 3000px"></div><a id=below href=/far>Far below</a>
<script>localStorage.visits = 1 + +(localStorage.visits || 0); visits.textContent = "Visit " + localStorage.visits;
document.cookie = "seen=" + document.cookie.length; const channel = new BroadcastChannel("all");
channel.onmessage = () => visits.textContent = "heard from another"; channel.postMessage("hello");</script>"""
DONE = "<!DOCTYPE html><title>Thanks</title><h1>Thanks</h1><p>You ordered a Floor lamp</p>"


async def order(page):
    await page.get_by_label("Lamp").click()
    await page.keyboard.type("Floor lamp")
    await page.get_by_role("button", name="Order").click()
    await page.get_by_text("You ordered").wait_for()


def shop_task(recording_browser) -> RecordedTask:
    """A replayable recording of an order, with its outcome checks."""
    site = Site({"/": SHOP, "/orders": DONE})
    session = recording_browser.record(order, url=site.origin + "/", keep={"replayable": True})
    site.close()
    recording = session.recording
    outcome = {"format": "demotape/outcome", "version": 1, "checks": [
        {"kind": "text", "css": "p", "match": {"includes": [["You ordered a Floor lamp"]]}},
        {"kind": "request", "method": "POST", "match": {"exact": [site.origin + "/orders"]},
         "body": {"lamp": {"exact": ["Floor lamp"]}}}]}
    recording.layout.outcome.write_bytes(dump_json(outcome))
    return read_task(recording.layout.root)
