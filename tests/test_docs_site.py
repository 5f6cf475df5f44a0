"""The documentation as static pages: `make docs` builds them without a network, and their search asks no other host."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from demotape.site import serve
from schemas.chromium import find_chromium, sandbox_arguments
from tests.support.checkout import ROOT
from tests.support.docs_pictures import FOLDER, MAX_BYTES
from tests.support.processes.documented_lines import command_lines

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
MAX_PICTURES = 8
needs_mkdocs = pytest.mark.skipif(not (find_spec("material") and find_spec("mkdocs_click")),
                                  reason="the group docs is not installed: make docs installs it")


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```$|^ {4}.*$|`[^`\n]*`", "", text, flags=re.M | re.S)


def anchors(path: Path) -> set[str]:
    """Anchors of a page's headings, as the pages and GitHub make them."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in re.findall(r"^#+ (.*)$", text, re.M)]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", [ROOT / "README.md", *PAGES], ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_anchors_lead_somewhere(path):
    text = without_code(path.read_text(encoding="utf-8"))
    for target, anchor in re.findall(r"\]\(([^)#\s:]*)(?:#([^)\s]+))?\)", text):
        linked = path.parent / target if target else path
        assert linked.exists(), target
        assert path.parent == ROOT or linked.resolve().is_relative_to(DOCS), f"{target}: not part of the pages"
        assert not anchor or anchor in anchors(linked), f"{target}#{anchor}"


@pytest.mark.parametrize("path", [ROOT / "README.md", *PAGES], ids=lambda path: str(path.relative_to(ROOT)))
def test_command_lines_have_no_comments(path):
    """An interactive zsh takes them as arguments."""
    lines = command_lines(path.read_text(encoding="utf-8"))
    assert [line for line in lines if re.match(r"(demotape|make|python|uv|pipx) .*\s#", line)] == []


def test_every_page_is_in_the_navigation():
    listed = re.findall(r"^ +- (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)
    assert sorted(listed) == sorted(str(path.relative_to(DOCS)) for path in PAGES)


def test_pictures_are_small_and_used():
    pictures = sorted(FOLDER.glob("*.png"))
    assert 0 < len(pictures) <= MAX_PICTURES and all(path.stat().st_size <= MAX_BYTES for path in pictures)
    used = set(re.findall(r"!\[.+?\]\((\S+\.png)\)", "".join(path.read_text() for path in FOLDER.glob("*.md"))))
    assert used == {path.name for path in pictures}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The pages, built by a process that reaches no network."""
    folder = tmp_path_factory.mktemp("site")
    nowhere = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")}
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--site-dir", folder], cwd=ROOT, text=True,
                          capture_output=True, env=os.environ | nowhere | {"NO_MKDOCS_2_WARNING": "1"}, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


@needs_mkdocs
def test_pages_load_nothing_from_other_hosts(built):
    for path in built.rglob("*.html"):
        loaded = re.findall(r"""<(?:script|img|iframe)[^>]*?\ssrc="?(https?://[^\s">]+)|"""
                            r"""<link[^>]*?rel="?stylesheet"?[^>]*?href="?(https?://[^\s">]+)""", path.read_text())
        assert loaded == [], path.name


@needs_mkdocs
def test_options_are_generated_from_the_program(built):
    page = (built / "options.html").read_text(encoding="utf-8")
    assert "--replayable" in page and "DEMOTAPE_RECORD_REPLAYABLE" not in page and "mkdocs-click" not in page


@needs_mkdocs
def test_the_search_finds_a_page(built):
    asked = []
    with serve(built) as origin, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright.chromium.executable_path),
                                             args=sandbox_arguments())
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{origin}/index.html")
        page.get_by_role("textbox", name="Search").fill("outcome checks")
        expect(page.locator(".md-search-result__item a").first).to_have_attribute("href", re.compile("outcome"))
        browser.close()
    assert [url for url in asked if not url.startswith((origin, "data:", "blob:"))] == []
