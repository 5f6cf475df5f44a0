"""Single-page applications from npm that scripts use while they are recorded: both keep what is done through a JSON
API, and one follows its server through a WebSocket."""

import json
from pathlib import Path

from playwright.async_api import Page

from benchmarks.applications import Application, run_program

from .hand import NAME, PASSWORD, click, drag, rest, seen, type_anew, type_in

_HASHED = "console.log(require('bcryptjs').hashSync(process.argv[1], 8))"
_TIDDLER = "Difference engine"


def _node_red(programs: Path, data: Path) -> None:
    """A server with one user, who has to sign in."""
    hashed = run_program(["node", "-e", _HASHED, PASSWORD], programs.parent.parent).strip()
    user = {"username": NAME, "password": hashed, "permissions": "*"}
    (data / "settings.js").write_text("module.exports = " + json.dumps({
        "uiHost": "127.0.0.1", "flowFile": "flows.json", "credentialSecret": PASSWORD, "editorTheme": {"tours": False},
        "telemetry": {"enabled": False}, "adminAuth": {"type": "credentials", "users": [user]}}))


async def use_node_red(page: Page, origin: str) -> None:
    """Sign in, find nodes, drag them in, name one, deploy, see it again, search, sign out."""
    await page.goto(origin + "/")
    await type_in(page.locator("#node-dialog-login-username"), NAME)
    await type_in(page.locator("#node-dialog-login-password"), PASSWORD)
    await page.keyboard.press("Enter")
    palette = page.locator("#red-ui-palette-search input:visible").first
    for kind, place in (("inject", (420, 200)), ("debug", (700, 320))):
        await type_anew(palette, kind)
        await seen(page.locator(f".red-ui-palette-node[data-palette-type={kind}]"))
        await drag(page.locator(f".red-ui-palette-node[data-palette-type={kind}]"), *place)
    await click(page.locator(".red-ui-flow-node-group").last, 2)
    await type_in(page.locator("#node-input-name"), "Every hour")
    await click(page.locator("#node-dialog-ok"))
    await click(page.locator("#red-ui-header-button-deploy"))
    await seen(page.locator("#red-ui-header-button-deploy.disabled"))
    await page.reload()
    await seen(page.locator(".red-ui-flow-node-group"))
    await type_in(page.locator(".red-ui-info-outline .red-ui-searchBox-input").first, "hour")
    await seen(page.locator(".red-ui-info-outline").get_by_text("Every hour"))
    await click(page.locator("#red-ui-header-button-user"))
    await click(page.locator("#usermenu-item-logout"))
    await seen(page.locator("#node-dialog-login-username"))


def _tiddlywiki(programs: Path, data: Path) -> None:
    """A wiki of few pages."""
    run_program([str(programs / "tiddlywiki"), str(data / "wiki"), "--init", "server"], data)
    (data / "wiki" / "tiddlers").mkdir(exist_ok=True)
    for number in range(12):
        (data / "wiki" / "tiddlers" / f"note-{number}.tid").write_text(
            f"title: Note {number}\ntags: notes\n\nThe note of number {number}, of [[Note {(number + 5) % 12}]].\n")


async def use_tiddlywiki(page: Page, origin: str) -> None:
    """Write a page with a text in a frame, see it again, search, follow a link, change one, delete one."""
    await page.goto(origin + "/")
    await click(page.get_by_role("button", name="new tiddler", exact=True).first)
    await type_anew(page.locator("input.tc-titlebar"), _TIDDLER)
    await type_in(page.locator(".tc-edit-tags input").first, "engines")
    await click(page.locator(".tc-edit-tags").get_by_role("button", name="add", exact=True))
    await type_in(page.frame_locator("iframe.tc-edit-texteditor-body").locator("textarea"), "It is made of //brass//.")
    await click(page.locator(".tc-tiddler-edit-frame button[title^=Confirm]"))
    await seen(page.locator(".tc-tiddler-view-frame em", has_text="brass"))
    await seen(page.locator("body:not(.tc-dirty)"))
    await page.reload()
    await type_in(page.locator(".tc-search input[type=search]"), "number 7")
    await click(page.locator(".tc-search-results a", has_text="Note 7").first)
    await click(page.locator(".tc-tiddler-body a", has_text="Note 0"))
    note = page.locator('[data-tiddler-title="Note 0"]')
    await click(note.locator("button[title='Edit this tiddler']"))
    editor = page.frame_locator("iframe.tc-edit-texteditor-body").locator("textarea")
    await click(editor)
    await page.keyboard.press("Control+End")
    await page.keyboard.type("And more.", delay=40)
    await click(page.locator(".tc-tiddler-edit-frame button[title^=Confirm]"))
    await seen(note.locator("p", has_text="And more."))
    page.once("dialog", lambda dialog: dialog.accept())
    await click(page.locator('[data-tiddler-title="Note 7"] button[title="Edit this tiddler"]'))
    await click(page.locator(".tc-tiddler-edit-frame button[title='Delete this tiddler']"))
    await seen(page.locator("body:not(.tc-dirty)"))
    await rest(page)


NODE_RED = Application(
    ("node-red@4.1.15",), _node_red,
    lambda programs, data, port: [str(programs / "node-red"), "--userDir", str(data), "--settings",
                                  str(data / "settings.js"), "--port", str(port)], npm=True)
TIDDLYWIKI = Application(
    ("tiddlywiki@5.4.1",), _tiddlywiki,
    lambda programs, data, port: [str(programs / "tiddlywiki"), str(data / "wiki"), "--listen", f"port={port}",
                                  f"anon-username={NAME}"], npm=True)
