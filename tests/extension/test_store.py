"""What a store asks of the extension; `make extension-check` runs this."""

import json
import re
import struct
import zipfile

import pytest
from playwright.async_api import async_playwright

from curator_web.web.shell.languages import LANGUAGES
from demotape import store_zip
from tests.support import chrome as browser_with_extension
from tests.support.browsers import full_chromium
from tests.support.checkout import ROOT

pytestmark = pytest.mark.chromium

EXTENSION = ROOT / "extension"
MANIFEST = json.loads((EXTENSION / "manifest.json").read_text(encoding="utf-8"))
MAX_NAME, MAX_DESCRIPTION = 75, 132  # characters, of the Chrome Web Store
CHROME_LANGUAGES = {"zh_Hans": "zh_CN"}  # Chrome's name of a language, where it has another
REMOTE_CODE = (r"<script[^>]*\bsrc=[\"']?(https?:)?//", r"\bimport\s*\(\s*[\"'`](https?:)?//",
               r"\bfrom\s+[\"'](https?:)?//",
               r"\bnew Function\b", r"(?<![\w.])eval\s*\(", r"importScripts\s*\(\s*[\"']https?:")


def test_the_zip_for_the_store_is_the_same_each_time_and_whole(tmp_path):
    for name in ("one.zip", "two.zip"):
        store_zip.write(tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        names = set(archive.namelist())
        manifest = json.loads(archive.read("manifest.json"))
    named = {manifest["background"]["service_worker"], manifest["side_panel"]["default_path"],
             "offscreen/offscreen.html", "content.js", *manifest["icons"].values()}
    assert named <= names and not [name for name in names if name.endswith((".py", ".pyc", ".md"))]


def test_every_permission_is_explained():
    manifest = json.loads((ROOT / "extension" / "manifest.json").read_text())
    text = (ROOT / "docs" / "extension.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| `([^`]+)` \|", text, flags=re.M))
    assert {*manifest["permissions"], *manifest["host_permissions"]} == explained


def messages(language: str) -> dict:
    return json.loads((EXTENSION / "_locales" / language / "messages.json").read_text(encoding="utf-8"))


def test_what_chrome_shows_is_in_the_languages_of_the_app():
    assert {path.name for path in (EXTENSION / "_locales").iterdir()} == {
        CHROME_LANGUAGES.get(language, language) for language in LANGUAGES}
    used = set(re.findall(r"__MSG_(\w+)__", json.dumps(MANIFEST)))
    for path in (EXTENSION / "_locales").iterdir():
        texts = messages(path.name)
        assert set(texts) == used
        assert all(text["message"].strip() for text in texts.values())
        assert len(texts["description"]["message"]) <= MAX_DESCRIPTION


def test_the_manifest_is_as_a_store_asks():
    assert MANIFEST["manifest_version"] == 3 and MANIFEST["default_locale"] in ("en",)
    assert 0 < len(MANIFEST["name"]) <= MAX_NAME
    assert re.fullmatch(r"\d{1,5}(\.\d{1,5}){0,3}", MANIFEST["version"])
    assert not {"key", "update_url", "content_security_policy", "externally_connectable"} & set(MANIFEST)
    for size, name in MANIFEST["icons"].items():
        head = (EXTENSION / name).read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", head[16:24]) == (int(size), int(size))


def test_no_code_comes_from_elsewhere_or_from_text():
    for path in store_zip.files():
        if path.suffix in (".js", ".html"):
            text = path.read_text(encoding="utf-8")
            assert not [pattern for pattern in REMOTE_CODE if re.search(pattern, text)], path


def test_the_zip_is_loaded_and_asks_before_it_records(runner, tmp_path):
    """What the store gets: its worker starts, its panel has the version and the policy, and Start needs the consent."""
    store_zip.write(tmp_path / "store.zip")
    with zipfile.ZipFile(tmp_path / "store.zip") as archive:
        archive.extractall(tmp_path / "extension")

    async def work():
        folder = tmp_path / "extension"
        async with async_playwright() as playwright:
            context = await playwright.chromium.launch_persistent_context(
                tmp_path / "profile", executable_path=full_chromium(playwright.chromium.executable_path),
                headless=True, ignore_default_args=["--disable-extensions"],
                args=["--no-sandbox", f"--disable-extensions-except={folder}", f"--load-extension={folder}"])
            worker = await browser_with_extension.service_worker(context)
            view = await context.new_page()
            errors = []
            view.on("pageerror", lambda error: errors.append(str(error)))
            await view.goto(worker.url.replace("background.js", "panel/panel.html"))
            await view.locator("#version", has_text=MANIFEST["version"]).wait_for(state="attached")
            await view.locator("#start").click()
            await view.locator("#agree:invalid").wait_for()
            async with context.expect_page() as opened:
                await view.locator("#agreement a").click()
            policy = await opened.value
            for words in ("What is collected", "Where it goes", "How long, and how to delete it"):
                await policy.locator("h2", has_text=words).wait_for()
            await context.close()
            return errors

    assert runner.run(work()) == []
