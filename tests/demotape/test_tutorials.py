"""The tutorials' command lines work as they stand, in this order, in an empty home."""

import re
import sys
from pathlib import Path

import pytest

from tests.support.checkout import ROOT
from tests.support.docs_pictures import agent_code
from tests.support.processes.documented_lines import Shell, command_lines, example_browser

TUTORIALS = ROOT / "docs" / "tutorials"
MAX_WORDS, MAX_SENTENCE_WORDS = 1500, 30
SERVING = "demotape review"


def text_of(name: str) -> str:
    return (TUTORIALS / f"{name}.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with example_browser(tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.fixture
def shell(tmp_path, browser) -> Shell:
    return Shell(tmp_path, Path(sys.executable).parent, DEMOTAPE_CHROMIUM=str(browser[0]), DEMOTAPE_RECORD_HEADLESS="1",
                 DEMOTAPE_RECORD_ACTOR="person", DEMOTAPE_REVIEW_PORT="0")


def run_lines(shell: Shell, name: str, arguments: Path) -> dict[str, str]:
    """What the lines of a tutorial print, by line."""
    lines = command_lines(text_of(name))
    shown = {}
    for line in lines:
        if line.startswith(SERVING):
            with shell.running(line, r"http://\S+") as shown[line]:
                pass
        elif line.startswith("demotape record "):
            shell.record(line, arguments)
        else:
            shown[line] = shell.run(line)
    return shown


def printed(shown: dict[str, str], beginning: str) -> str:
    """What the only line that begins so has printed."""
    [text] = [text for line, text in shown.items() if line.startswith(beginning)]
    return text


def test_the_leads(shell, browser):
    [tasks] = re.findall(r"^```csv\n(.*?)^```", text_of("lead"), re.M | re.S)
    (shell.folder / "tasks.csv").write_text(tasks)
    shown = run_lines(shell, "lead", browser[1])
    assert re.search(r"medium\W+1\W+0\W+3\b", printed(shown, "demotape task list"))
    assert "1 demonstration" in printed(shown, "demotape export flights")


def test_the_navigators(shell, browser):
    shown = run_lines(shell, "navigator", browser[1])
    assert "click 1" in printed(shown, "demotape process")


def test_the_agent_developers(shell, browser):
    (shell.folder / "mine.py").write_text(agent_code(text_of("agent")))
    shown = run_lines(shell, "agent", browser[1])
    scores = {name: printed(shown, f"demotape agents run {name}").split()[1]
              for name in ("recorded", "idle", "mine:act")}
    assert scores == {"recorded": "1", "idle": "0", "mine:act": "1"}
    assert (shell.folder / "runs.html").is_file()


@pytest.mark.parametrize("path", sorted(TUTORIALS.glob("*.md")), ids=lambda path: path.stem)
def test_pages_and_sentences_are_short(path):
    text = re.sub(r"^```.*?^```$|^ {4}.*$|^\|.*$|^!\[.*$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert len(text.split()) <= MAX_WORDS
    plain = re.sub(r"\]\([^)]*\)", "]", text)
    for sentence in re.split(r"(?<=[.:!?])\s+|\n\n", plain):
        assert len(sentence.split()) <= MAX_SENTENCE_WORDS, sentence
