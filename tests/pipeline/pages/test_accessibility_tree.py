"""The accessibility tree of a state, from the kept DOM: that of before the effect, with uids, without secrets."""

import json
from concurrent.futures import ThreadPoolExecutor

from pipeline import process
from pipeline.verify import verify

PAGE = """<title>Shop</title><main><h1>Tea</h1><button id=b onclick="this.textContent = 'Sold'">Sell</button>
<label>Word <input id=p type=password></label><input type=checkbox id=c aria-label=Fast>
<iframe srcdoc="<button>Inside</button>"></iframe><p aria-hidden=true>Ornament</p></main>"""


def test_tree_is_that_of_the_state_before(recording_browser, site):
    site.pages["/"] = PAGE

    async def user_actions(page):
        await page.locator("#p").click()
        await page.keyboard.type("swordfish9")
        await page.locator("#c").click()
        await page.locator("#b").click()
        await page.locator("#b").click()

    session = recording_browser.record(user_actions, url=site.origin + "/", keep={"axtree": True})
    recording = session.recording
    # Playwright's synchronous interface does not run where an event loop does: processing has a thread of its own.
    with ThreadPoolExecutor(1) as pool:
        turns = [turn for turn in pool.submit(process, recording.layout.root).result()["turns"] if turn["state"]]
    trees = [json.loads(recording.blob(turn["state"]["axtree"])) for turn in turns if turn["state"]["dom"]]
    before, after = trees[-2], trees[-1]
    uid = turns[-1]["element"]["uid"]
    assert [node["name"] for node in before if node.get("uid") == uid] == ["Sell"]
    assert [node["name"] for node in after if node.get("uid") == uid] == ["Sold"]
    roles = {(node["role"], node["name"]) for node in after}
    assert {("RootWebArea", "Shop"), ("heading", "Tea"), ("button", "Inside"), ("checkbox", "Fast")} <= roles
    assert not any(name == "Ornament" for _, name in roles)
    checkbox = next(node for node in after if node["role"] == "checkbox")
    assert checkbox["properties"]["checked"] == "true"
    assert "swordfish" not in json.dumps(trees)
    ids = {node["id"] for node in after}
    assert all(node["parent"] in ids or node["parent"] is None for node in after)
    assert verify(recording.layout.root) == []
