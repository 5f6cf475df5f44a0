"""Traces that Playwright itself writes: actions, targets, values, pages and pictures; broken and hostile ones."""

import io
import json
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import sync_playwright

from pipeline.importing import list_items
from schemas import InputError
from schemas.chromium import find_chromium
from tests.pipeline.importing.test_own_exports import imported

PAGE = """<!doctype html><title>Shop</title><style>body{height:3000px}</style>
<label>Search <input id=q></label>
<button id=go onclick="document.title='Found';this.textContent='Searching'">Go</button>
<select id=s><option value=1>One</option><option value=2>Two</option></select>
<input type=checkbox id=c aria-label=Agree><iframe src="/frame" width=300 height=80></iframe><x-c></x-c>
<input type=password id=p><a href="/second">Second page</a><input type=file id=f>
<script>customElements.define('x-c', class extends HTMLElement { constructor() { super();
this.attachShadow({mode: 'open'}).innerHTML = '<button id=in>Shadow</button>' } })</script>"""
PAGES = {"/": PAGE, "/frame": "<button id=fb>In frame</button>", "/second": "<title>Second</title><p>Last</p>"}


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        content = PAGES.get(self.path, "").encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """A trace of a session with one action of each kind; its path and the site's address."""
    path = tmp_path_factory.mktemp("trace") / "run.zip"
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    Thread(target=server.serve_forever, daemon=True).start()
    site = f"http://127.0.0.1:{server.server_port}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 800, "height": 500})
        context.tracing.start(screenshots=True, snapshots=True)
        page = context.new_page()
        page.goto(f"{site}/")
        page.fill("#q", "two lämps")
        page.get_by_role("button", name="Go").click()
        page.select_option("#s", label="Two")
        page.check("#c")
        page.frame_locator("iframe").locator("#fb").click()
        page.locator("#in").click(button="right")
        page.locator("#q").press("Control+a")
        page.locator("#q").press_sequentially("ab")
        page.fill("#p", "correct horse")
        page.set_input_files("#f", {"name": "a.txt", "mimeType": "text/plain", "buffer": b"x"})
        page.click("a")
        page.wait_for_url("**/second")
        with pytest.raises(Exception, match="Timeout"):
            page.click("#nothing", timeout=50)
        other = context.new_page()
        other.goto(f"{site}/second")
        page.go_back()
        context.tracing.stop(path=path)
        browser.close()
    server.shutdown()
    return path, site


@pytest.fixture(scope="module")
def source(trace, tmp_path_factory):
    return next(iter(imported(trace[0], tmp_path_factory.mktemp("imported")).values()))


def test_actions_values_and_targets(trace, source):
    site = trace[1]
    turns = [(turn["intent"], {name: value for name, value in turn["arguments"].items() if name in (
        "url", "text", "value", "label", "checked", "key", "files", "button", "target")},
              turn["element"] and (turn["element"]["tag"], turn["element"]["name"])) for turn in source.turns]
    assert turns == [
        ("load", {"url": f"{site}/"}, None),
        ("textInput", {"text": "two lämps"}, ("input", "Search")),
        ("click", {"button": 0}, ("button", "Go")),
        ("change", {"value": "2", "label": "Two"}, ("select", "")),
        ("change", {"checked": True}, ("input", "Agree")),
        ("click", {"button": 0}, ("button", "In frame")),
        ("click", {"button": 2}, ("button", "Shadow")),
        ("press", {"key": "Control+a"}, ("input", "Search")),
        ("textInput", {"text": "ab"}, ("input", "Search")),
        ("textInput", {"text": "[REDACTED]"}, ("input", "")),
        ("upload", {"files": ["a.txt"]}, ("input", "")),
        ("click", {"button": 0}, ("a", "Second page")),
        ("tabcreate", {}, None),
        ("tabswitch", {"target": 2}, None),
        ("load", {"url": f"{site}/second"}, None),
        ("tabswitch", {"target": 1}, None),
        ("back", {}, None)]
    assert source.recording.manifest["imported"]["left_out"] == {"actions that failed": 1}


def test_states_are_those_before_the_action(source):
    for turn in source.turns:
        if not turn["element"]:
            continue
        page = source.recording.blob(turn["state"]["dom"])
        assert turn["state"]["screenshot"] and turn["state"]["viewport"] == {"width": 800, "height": 500}
        assert turn["element"]["bbox"] and f'="{turn["element"]["uid"]}"'.encode() in page.replace(b"&quot;", b'"')
        assert b"correct horse" not in page
    filled, clicked = source.turns[1], source.turns[2]
    assert b"Searching" not in source.recording.blob(clicked["state"]["dom"])
    assert "two lämps".encode() not in source.recording.blob(filled["state"]["dom"])
    assert "two lämps".encode() in source.recording.blob(clicked["state"]["dom"])


def test_importing_again_is_the_same(trace, source, tmp_path):
    again = next(iter(imported(trace[0], tmp_path).values()))
    assert again.demonstration == source.demonstration
    assert again.recording.manifest["started_at"] == source.recording.manifest["started_at"]


def rewritten(path, target, change):
    """A copy of an archive whose trace's events are changed by a function; it may add entries to the archive."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == "trace.trace":
                events = change([json.loads(line) for line in content.splitlines()])
                content = "".join(json.dumps(event) + "\n" for event in events).encode()
            new.writestr(entry.filename, content)
    return target


def test_a_newer_version_is_one_clear_error(trace, tmp_path):
    path = rewritten(trace[0], tmp_path / "new.zip", lambda events: [events[0] | {"version": 11}, *events[1:]])
    with pytest.raises(InputError, match="version 11 of Playwright's traces; read are 3 to 10"):
        imported(path, tmp_path)


def test_a_snapshot_that_grows_by_references_ends(trace, tmp_path):
    def bomb(events):
        grown = ["DIV", {}, "x" * 1000]
        for event in events:
            if event["type"] == "frame-snapshot" and event["snapshot"]["isMainFrame"]:
                event["snapshot"]["html"] = ["HTML", {}, grown]
                grown = ["DIV", {}, *[[[1, 1]]] * 20]
        return events
    with pytest.raises(InputError, match="a page of more than|refers to an element|takes longer"):
        imported(rewritten(trace[0], tmp_path / "bomb.zip", bomb), tmp_path)


@pytest.mark.parametrize("html", [[[0, 0]], [[1, 99999]], [[-1, 0]], ["HTML"], [], None, 7, "text",
                                  ["<b>", {"on x": 1}], ["HTML", {"__playwright_scroll_top_": "x"}], [["a", "b"]]])
def test_odd_snapshots_are_read_or_one_clear_error(trace, tmp_path, html):
    def change(events):
        for event in events:
            if event["type"] == "frame-snapshot":
                event["snapshot"]["html"] = html
        return events
    try:
        imported(rewritten(trace[0], tmp_path / "odd.zip", change), tmp_path)
    except InputError as error:
        assert "odd.zip" in str(error) and "\n" not in str(error)


def test_names_of_pictures_are_no_paths(trace, tmp_path):
    def change(events):
        return [event | {"file": "../../../etc/hostname"} if event["type"] == "screencast-frame" else event
                for event in events]
    source = next(iter(imported(rewritten(trace[0], tmp_path / "paths.zip", change), tmp_path).values()))
    assert "screenshots" in source.recording.manifest["imported"]["lacks"]


def test_archives_that_are_blown_up_or_cut_off_are_refused(trace, tmp_path):
    blown = io.BytesIO()
    with zipfile.ZipFile(blown, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("trace.trace", b" " * (8 << 20))
    (tmp_path / "blown.zip").write_bytes(blown.getvalue())
    with pytest.raises(InputError, match="compression ratio"):
        list_items(tmp_path / "blown.zip", "playwright")
    (tmp_path / "cut.zip").write_bytes(trace[0].read_bytes()[:20_000])
    with pytest.raises(InputError, match="not a zip file"):
        list_items(tmp_path / "cut.zip", "playwright")
