"""The network as HAR and the pages as MHTML: enough to be shown again, and no secret in them."""

import email
import json

import pytest

from recorder.building.network_log import HarFile
from recorder.privacy.secret_values import Secrets

LOGIN = """<title>Sign in</title><link rel=stylesheet href=/style.css>
<form action=/home method=post><input name=user><input id=p name=word type=password><button>Sign in</button></form>
<form action=/found><input id=q name=q type=password><button id=find>Find</button></form>
<script>addEventListener('change', () => fetch('/api?token=tok-' + 5551234, {method: 'POST', body: JSON.stringify(
  {user: 'ann', nested: {word: p.value}}), headers: {'Content-Type': 'application/json', 'X-Api-Key': 'key-' + 778899,
  Authorization: 'Bearer bearer-' + 8877665544}}))</script>"""
HOME = ("<p>Welcome <b>ann</b>, your word is swordfish9!</p>"
        "<div data-demotape-mask>Balance <b>7431 EUR</b> Margaret</div>"
        "<a href='/?again=swordfish9!'>back</a>")
SECRETS = ("swordfish9", "bearer-8877665544", "key-778899", "tok-5551234", "sid-6655443322", "7431 EUR",
           "Margaret", "sunshine")


@pytest.fixture
def login(recording_browser, site):
    site.pages |= {"/": LOGIN, "/home": HOME, "/found": "<p>nothing found", "/style.css": ("text/css", b"b{color:red}"),
                   "/api": ("application/json", b'{"access_token": "tok-5551234", "name": "ann"}')}
    site.headers = {"Set-Cookie": "sid=sid-6655443322; Path=/"}

    async def user_actions(page):
        await page.locator("#q").click()
        await page.keyboard.type("sunshine")
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/found*")
        await page.go_back()
        await page.locator("#p").click()
        await page.keyboard.type("swordfish9!")
        async with page.expect_response("**/api*") as answer:
            await page.keyboard.press("Tab")
        await (await answer.value).finished()
        await page.locator("#p").click()
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/home")
        await page.wait_for_timeout(1000)  # the page rests, and is kept

    return recording_browser.record(user_actions, url=site.origin + "/", keep={"har": True, "mhtml": True})


def test_network_is_kept_and_no_secret_in_it(login, site, recording_browser):
    recording = login.recording
    archives = [recording.blob(event["data"]["blob"]) for event in recording.events if event["type"] == "mhtml"]
    texts = [part.get_payload(decode=True).decode() for archive in archives
             for part in email.message_from_bytes(archive).walk() if part.get_content_maintype() == "text"]
    assert any("Welcome" in text for text in texts)
    assert not login.problems
    har = recording.layout.har.read_text()
    kept = [har, *texts, recording.layout.events.read_text(), recording.layout.resources.read_text(),
            *(recording.blob(path.name).decode("latin-1") for path in recording.layout.blobs.glob("??/*"))]
    for secret in SECRETS:
        assert not any(secret in text for text in kept), secret
    entries = json.loads(har)["log"]["entries"]
    by_path = {(entry["request"]["method"], entry["request"]["url"].removeprefix(site.origin)): entry
               for entry in entries if "_failure" not in entry}  # the page was left while one was answered
    api = by_path["POST", "/api?token=%5BREDACTED%5D"]
    assert json.loads(api["request"]["postData"]["text"]) == {"user": "ann", "nested": {"word": "[REDACTED]"}}
    assert json.loads(api["response"]["content"]["text"]) == {"access_token": "[REDACTED]", "name": "ann"}
    assert by_path["POST", "/home"]["request"]["postData"]["text"] == "user=&word=%5BREDACTED%5D"
    assert by_path["GET", "/style.css"]["response"]["content"]["text"] == "b{color:red}"
    assert api["request"]["cookies"] == [{"name": "sid", "value": "[REDACTED]"}]
    assert [(entry["request"]["url"], entry["response"]["status"], entry["time"]) for entry in entries
            if "_failure" not in entry and (entry["time"] < 0 or entry["response"]["status"] not in (200, 404))] == []


def test_pages_can_be_served_again_from_the_har(login, site, recording_browser):
    har, address = login.recording.layout.har, site.origin + "/"
    site.pages.clear()

    async def serve_again():
        context = await recording_browser.browser.new_context()
        page = await context.new_page()
        await page.route_from_har(har, not_found="abort")
        await page.goto(address)
        title, color = await page.title(), await page.locator("form").count()
        await context.close()
        return title, color

    assert recording_browser.run(serve_again()) == ("Sign in", 2)


def test_archive_of_a_page_opens_by_itself(login, recording_browser, tmp_path):
    archives = [login.recording.blob(event["data"]["blob"]) for event in login.recording.events
                if event["type"] == "mhtml"]
    (tmp_path / "page.mhtml").write_bytes(archives[-1])

    async def show():
        context = await recording_browser.browser.new_context(offline=True)
        page = await context.new_page()
        await page.goto((tmp_path / "page.mhtml").as_uri())
        text = await page.locator("body").inner_text()
        await context.close()
        return text

    text = recording_browser.run(show())
    assert "Welcome ann, your word is [REDACTED]" in text and "Balance" not in text


def test_har_is_whole_after_each_entry(tmp_path):
    har = HarFile(tmp_path / "network.har", "Chromium 1.2", "3")
    for count in range(3):
        assert len(json.loads((tmp_path / "network.har").read_bytes())["log"]["entries"]) == count
        har.append({"n": count})
    har.close()
    log = json.loads((tmp_path / "network.har").read_bytes())["log"]
    assert log["browser"] == {"name": "Chromium", "version": "1.2"}


@pytest.mark.parametrize("value, text, clean", [
    ("swordfish9!", "a swordfish9! b", "a [REDACTED] b"),
    ("a&b<c>d9", "x a&amp;b&lt;c&gt;d9 y", "x [REDACTED] y"),
    ("päß-wört", "q=p%C3%A4%C3%9F-w%C3%B6rt", "q=[REDACTED]"),
    ("correct horse", '<p>correct horse</p>', "<p>[REDACTED]</p>"),
    ("password", '<input type="password" value="password"> <b> password </b>',
     '<input type="password" value="[REDACTED]"> <b>[REDACTED]</b>'),
])
def test_secrets_are_found_however_they_are_written(value, text, clean):
    secrets = Secrets()
    secrets.add_field_value("field", value)
    assert secrets.in_markup(text) == clean


def test_what_is_typed_is_one_secret_not_one_a_letter():
    secrets = Secrets()
    for end in range(1, 11):
        secrets.add_field_value("field", "open-s3sam"[:end])
    assert secrets.in_text("open-s3 open-s3sam") == "open-s3 [REDACTED]"
    secrets.add_field_value("field", "")
    secrets.add_field_value("field", "other-7")
    assert secrets.in_text("open-s3sam, other-7") == "[REDACTED], [REDACTED]"


@pytest.mark.parametrize("url, clean", [
    ("https://a.example/x?q=1&password=hunter&z=2", "https://a.example/x?q=1&password=%5BREDACTED%5D&z=2"),
    ("https://user:word@a.example/#access_token=abc&state=1", "https://a.example/#access_token=%5BREDACTED%5D&state=1"),
    ("https://a.example/search?q=a%20b+c&page=2", "https://a.example/search?q=a%20b+c&page=2"),
    ("about:blank", "about:blank"),
])
def test_addresses_lose_what_their_parameters_call_secret(url, clean):
    assert Secrets().in_address(url) == clean
