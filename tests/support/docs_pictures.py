"""`python -m tests.support.docs_pictures`: the pictures of the tutorials, from the demo in the running review app."""

import io
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from curator_web import create_app
from demotape.demo import run
from schemas.chromium import find_chromium, sandbox_arguments
from tests.support.checkout import ROOT
from tests.support.curator.curator_fixtures import serving

FOLDER = ROOT / "docs" / "tutorials"
MAX_BYTES = 120_000
_VIEWPORT = {"width": 1280, "height": 800}
_COLOURS = 128


def agent_code(tutorial: str) -> str:
    """The agent of the tutorial for agent developers."""
    return tutorial.partition("```python\n")[2].partition("```")[0]


def main() -> None:
    """Write all pictures."""
    with tempfile.TemporaryDirectory(prefix="demotape-pictures-") as name:
        demo = run(Path(name, "demo"), lambda _: None)  # before Playwright's loop runs in this thread
        bundle = _bundle(Path(name), demo.recording)
        with sync_playwright() as playwright, serving(create_app(data_dir=demo.data)) as url:
            chromium = find_chromium(playwright.chromium.executable_path)
            browser = playwright.chromium.launch(executable_path=chromium, args=sandbox_arguments())
            _write(browser.new_page(viewport=_VIEWPORT), url, bundle)
            browser.close()


def _write(page: Page, url: str, bundle: Path) -> None:
    _picture(page, "list", url, "table")
    review = url.rstrip("/") + page.locator("a[href^='/demonstrations/']").first.get_attribute("href")
    page.goto(review)
    turn = page.locator("[data-turn]", has_text="“new yo”").first.get_attribute("data-turn")
    _picture(page, "review-page", f"{review}?turn={turn}", "main img")
    for name in ("timeline", "outcome"):
        _picture(page, name, f"{review}/{name}", "h1")
    _picture(page, "dashboard", f"{url.rstrip('/')}/dashboard", "h1")
    _picture(page, "bundle", bundle.as_uri(), "img")


def _bundle(folder: Path, recording: Path) -> Path:
    """The person's session beside a run of the tutorial's agent."""
    (folder / "mine.py").write_text(agent_code((FOLDER / "agent.md").read_text(encoding="utf-8")), encoding="utf-8")
    demotape = [sys.executable, "-m", "demotape"]
    for words in (["agents", "run", "mine:act", recording, "--runs", "runs"],
                  ["bundle", recording, "runs", "runs.html"]):
        subprocess.run([*demotape, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "runs.html"


def _picture(page: Page, name: str, address: str, selector: str) -> None:
    """One picture of a page, in few colours: its file is small, and differs only where the page does."""
    page.goto(address)
    expect(page.locator(selector).first).to_be_visible()
    page.wait_for_load_state("networkidle")
    picture = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
    path = FOLDER / f"{name}.png"
    picture.quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    assert path.stat().st_size <= MAX_BYTES, f"{path}: more than {MAX_BYTES} bytes"
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
