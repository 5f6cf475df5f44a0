"""The pages in other languages: whose turn it is, and that no text is left out of the catalogues."""

import re
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo
from jinja2 import Environment

from curator_web import catalogues, create_app
from curator_web.demonstrations.library.library import import_recording
from curator_web.errors import ErrorText, InputError
from curator_web.web.shell import languages
from curator_web.web.shell.display_names import error_words, in_language
from tests.support.checkout import ROOT
from tests.support.curator.curator_fixtures import make_recording
from tests.support.curator.team_fixtures import add_people, csrf, signed_in

TRANSLATED = [name for name in languages.LANGUAGES if name != languages.SOURCE]
TEMPLATES = ROOT / "curator_web" / "web" / "templates"
HOLES = re.compile(r"%\(\w+\)[sr]|%%|\{\w+\}|</?[a-z][^>]*>")
# Names, and examples of what is written in a field: they are the same in every language.
SAME_EVERYWHERE = {"demotape", "· demotape", "CSS", "XPath", "DOM", "MB", "s", "X", "κ", "α", "shop.example",
                   "https://shop.example", "shop.example, news.example", "ann, bob", "typo, personal-data",
                   "difficulty=hard", "https://ci.example.org/demotape"}
TOLD = re.compile(r'\b(title|aria-label|placeholder|alt|data-label)="([^"]*)"')
LETTER = re.compile(r"[^\W\d_]")


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    folder = tmp_path_factory.mktemp("languages")
    app = create_app(None, folder / "data")
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(folder))
    yield app
    services.db.close()


@cache
def sources() -> Catalog:
    return catalogues.sources()


@pytest.mark.parametrize("asked, shown", [
    ("", "en"), ("de", "de"), ("de-AT,de;q=0.9,en;q=0.5", "de"), ("en-US,en;q=0.9,de;q=0.8", "en"),
    ("fr,es;q=0.3", "es"), ("zh-CN", "zh-Hans"), ("zh", "zh-Hans"), ("zh-TW,zh-Hant;q=0.8", "en"), ("ko-KR", "ko"),
    ("xx-", "en"), ("*", "en"), (",".join(["x" * 300] * 30), "en")])
def test_a_page_comes_in_the_language_that_the_browser_asks_for(app, asked, shown):
    page = app.test_client().get("/", headers={"Accept-Language": asked})
    assert page.status_code == 200 and f'<html lang="{shown}" dir="ltr">' in page.text


@pytest.mark.parametrize("language, word", [
    ("en", "Demonstrations"), ("de", "Demonstrationen"), ("es", "Demostraciones"), ("ko", "시연"), ("zh_Hans", "演示")])
def test_every_page_comes_in_every_language(app, language, word):
    client = app.test_client()
    client.set_cookie(languages.COOKIE, language)
    assert f"<title>{word} " in client.get("/").text
    for address in ("/tasks", "/dashboard", "/exports", "/labels", "/import", "/keys", "/projects", "/projects/main",
                    "/projects/main/settings", "/projects/main/scheme", "/projects/main/scheme/answers",
                    "/demonstrations/rec-1", "/demonstrations/rec-1/changes", "/pairs",
                    "/demonstrations/rec-1/timeline", "/demonstrations/rec-1/outcome", "/demonstrations/rec-1/proof"):
        page = client.get(address)
        assert page.status_code == 200 and f'lang="{language.replace("_", "-")}"' in page.text, address


def test_the_choice_is_kept_and_leads_back_and_nowhere_else(app):
    client = app.test_client()
    token = csrf(client, "/tasks?state=proposed")
    answer = client.post("/language", data={"csrf_token": token, "language": "de", "next": "/tasks?state=proposed"})
    assert answer.status_code == 303 and answer.headers["Location"] == "/tasks?state=proposed"
    cookie = answer.headers["Set-Cookie"]
    assert "demotape-language=de" in cookie and "HttpOnly" in cookie and "SameSite=Lax" in cookie
    page = client.get("/tasks", headers={"Accept-Language": "es"})
    assert 'lang="de"' in page.text and "Aufgaben" in page.text
    assert re.search(r'value="de" lang="de" aria-current="true">Deutsch<', page.text)
    for data, where in (({"language": "en", "next": "https://elsewhere.example"}, "/"),
                        ({"language": "xx", "next": "//elsewhere.example"}, "/")):
        answer = client.post("/language", data={"csrf_token": token, **data})
        assert answer.headers["Location"] == where
    assert "demotape-language=xx" not in answer.headers.get("Set-Cookie", "")
    assert client.post("/language", data={"language": "es"}).status_code == 400  # no token of ours
    assert 'lang="en"' in client.get("/").text


def test_the_sign_in_page_has_the_choice_and_programs_are_answered_in_english(tmp_path):
    app = create_app(None, tmp_path / "data")
    tokens = add_people(app)
    client = app.test_client()
    client.set_cookie(languages.COOKIE, "de")
    page = client.get("/sign-in")
    assert ">Anmelden</h1>" in page.text and 'name="language" value="es"' in page.text
    answer = client.get("/api/demonstrations/none", headers={"Authorization": f"Bearer {tokens['lea']}"})
    assert answer.status_code == 404 and "Unknown demonstration" in answer.json["message"]
    lea = signed_in(app, "lea")
    lea.set_cookie(languages.COOKIE, "de")
    assert "lea, Leitung" in lea.get("/").text and "Nicht gefunden" in lea.get("/nowhere").text
    app.extensions["demotape"].db.close()


def test_errors_are_told_in_the_language_of_the_page_and_to_programs_in_english(app):
    client = app.test_client()
    client.set_cookie(languages.COOKIE, "de")
    page = client.get("/demonstrations/nowhere%")
    assert page.status_code == 404 and "Es gibt keine Demonstration &#39;nowhere%&#39;." in page.text
    token = csrf(client, "/tasks")
    page = client.post("/demonstrations/rec-1/status", data={"csrf_token": token, "version": 1, "status": "returned"})
    assert page.status_code == 400 and "Feld reason: geben Sie an, warum die Demonstration" in page.text
    answer = client.get("/api/demonstrations/nowhere")
    assert answer.json["message"] == "Unknown demonstration 'nowhere'."


def test_the_text_of_an_error_is_english_until_a_page_shows_it(app):
    text = ErrorText("%(who)s is %(share)s %% done; %(why)s", who="ann", share=5, why=ErrorText("sign in first"))
    assert text == "ann is 5 % done; sign in first" and str(InputError(text)) == text
    with app.test_request_context("/", headers={"Cookie": f"{languages.COOKIE}=de"}):
        assert in_language(text) == "ann is 5 % done; melden Sie sich zuerst an"
        assert error_words(InputError("of a format: 100%")) == "of a format: 100%"
        status = ErrorText("this demonstration is %(status)s; only a validator can change it", status="submitted")
        assert "„eingereicht“" in error_words(InputError(status))


def test_numbers_and_days_are_written_as_the_language_has_them(app):
    time = datetime(2026, 1, 3, 14, 5, tzinfo=UTC)
    expected = {"en": ("12,345", "0.50", "3 Jan", "3 Jan 2026, 14:05"),
                "de": ("12.345", "0,50", "3. Jan.", "3. Jan. 2026, 14:05"),
                "zh_Hans": ("12,345", "0.50", "1月3日", "2026年1月3日, 14:05")}
    for language, texts in expected.items():
        with app.test_request_context("/", headers={"Cookie": f"{languages.COOKIE}={language}"}):
            assert (languages.grouped(12345), languages.decimal(0.5, 2), languages.day_month(date(2026, 1, 3)),
                    languages.day_and_time(time)) == texts


def test_all_catalogues_are_those_that_can_be_chosen():
    assert catalogues.languages() == sorted(TRANSLATED)


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_catalogue_has_every_text_and_only_those(language):
    kept, wanted = catalogues.read(language), catalogues.updated(language, sources())
    assert ({(each.id, each.context) for each in kept if each.id}
            == {(each.id, each.context) for each in wanted if each.id})
    assert not kept.obsolete, "python -m curator_web.catalogues"
    lacking = [each.id for each in kept if each.id and (each.fuzzy or not all(forms(each.string)))]
    assert lacking == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_have_the_holes_and_tags_of_their_sources(language):
    """Tags, because translations are put into pages as they are."""
    wrong = []
    for each in catalogues.read(language):
        for text in forms(each.string) if each.id else ():
            wanted = {tuple(sorted(HOLES.findall(source))) for source in forms(each.id)}
            plain = HOLES.sub("", text)
            if tuple(sorted(HOLES.findall(text))) not in wanted or re.search('"|<[a-z/!]', plain):
                wrong.append(text)
    assert wrong == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_what_programs_read_is_compiled_from_the_catalogue(language):
    with catalogues.po_file(language).with_suffix(".mo").open("rb") as file:
        compiled = read_mo(file)
    kept = catalogues.read(language)
    assert {(forms(each.id), each.context, forms(each.string)) for each in compiled if each.id} == {
        (forms(each.id), each.context, forms(each.string)) for each in kept if each.id}


def forms(text: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.html")), ids=lambda path: path.stem)
def test_no_template_shows_a_text_that_is_not_marked(path):
    assert unmarked(path) == []


def unmarked(path: Path) -> list[str]:
    """What a template shows besides what Jinja puts in."""
    kept = re.sub(r"\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}", "\0", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    kept = re.sub(r"<(code|pre|kbd|script|style)\b.*?</\1>", "\0", kept, flags=re.DOTALL)
    told = [text for _, text in TOLD.findall(kept)]
    shown = re.sub(r'<[a-z/!](?:"[^"]*"|[^">])*>', "\0", kept).split("\0")
    found = [text.strip() for text in told + [text for text in shown if "=" not in text]]  # those are attributes
    return [text for text in found
            if LETTER.search(text) and text not in SAME_EVERYWHERE and not re.fullmatch(r"[a-z]+-page", text)]


def test_the_search_for_unmarked_texts_finds_them(tmp_path):
    path = tmp_path / "page.html"
    path.write_text('<p title="Bare">{{ _("Marked") }} bare {% if x %}too{% endif %}<code>code</code></p>')
    assert unmarked(path) == ["Bare", "bare", "too"]
    Environment(extensions=["jinja2.ext.i18n"]).parse(path.read_text())
