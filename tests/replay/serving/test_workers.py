"""What workers ask for is kept and served again: those of a page, and a service worker, which answers for the site."""

import asyncio

from pipeline import refresh
from recorder import Recording
from replay.running import running

PAGE = """<!DOCTYPE html><title>Workers</title><p id=one></p><p id=two></p><button>Ask</button><script>
const byId = (id) => document.getElementById(id);
new Worker("/worker.js").onmessage = ({ data }) => byId("one").textContent = data;
const ready = navigator.serviceWorker.register("/service.js").then(() => navigator.serviceWorker.ready);
navigator.serviceWorker.oncontrollerchange = () => document.title = "Controlled";
document.querySelector("button").onclick = async () => {
  await ready;
  byId("two").textContent = await (await fetch("/told")).text();
};
</script>"""
WORKER = b"fetch('/number').then((answer) => answer.text()).then(postMessage)"
SERVICE = b"""addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => event.request.url.endsWith("/told") &&
  event.respondWith(fetch("/fresh").then((answer) => answer.text()).then((text) => new Response("Told " + text))));"""


def test_workers(recording_browser, site, tmp_path):
    site.pages |= {"/": PAGE, "/worker.js": ("text/javascript", WORKER), "/service.js": ("text/javascript", SERVICE),
                   "/number": "Forty-two", "/fresh": "afresh"}

    async def act(page):
        await page.get_by_text("Forty-two").wait_for()
        await page.wait_for_function("document.title === 'Controlled'")
        await page.locator("button").click()
        await page.get_by_text("Told afresh").wait_for()

    root = recording_browser.record(act, url=site.origin + "/", keep={"replayable": True}).recording.layout.root
    site.pages.clear()
    asked = {line["url"].removeprefix(site.origin) for line in Recording(root).exchanges()}
    assert {"/", "/worker.js", "/number", "/service.js", "/fresh"} <= asked
    result = asyncio.run(running.run(Recording(root), refresh(root)[0], tmp_path / "run"))
    assert result.missing == {} and [each.verdict for each in result.outcomes] == ["same", "same"], result.outcomes
