"""`python -m tests.support.prose_lint`: idioms in README, docs, the review app's texts and the command line's help.

textlint finds them by the rule in `tests/support/prose/`. `allowed.json` holds how many of each source are left; a run
fails above that, and `--lower` writes smaller numbers, never larger ones.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
from babel.messages.pofile import read_po

from demotape.cli import main as commands
from tests.support.checkout import ROOT

RULES = Path(__file__).with_name("prose")
ALLOWED = RULES / "allowed.json"
TEXTLINT = ROOT / "node_modules/.bin/textlint"
CATALOGUE = ROOT / "curator_web/translations/de/LC_MESSAGES/messages.po"
UI, HELP = "user interface", "command help"
_MIN_SENTENCE_WORDS = 4


def main() -> int:
    """Count, compare, report; returns the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        sources = write_sources(Path(folder))
        found = run_textlint(sources)
        sentences = sum(count_sentences(path.read_text(encoding="utf-8")) for path in sources.values())
    allowed = json.loads(ALLOWED.read_text(encoding="utf-8"))
    above = {name: messages for name, messages in found.items() if len(messages) > allowed.get(name, 0)}
    for name, messages in above.items():
        print(f"{name}: {len(messages)} idioms, {allowed.get(name, 0)} allowed", *messages, sep="\n  ", file=sys.stderr)
    if "--lower" in sys.argv:
        counts = {name: min(len(messages), allowed.get(name, 0)) for name, messages in found.items()}
        ALLOWED.write_text(json.dumps({name: count for name, count in counts.items() if count}, indent=1) + "\n")
    total = sum(map(len, found.values()))
    print(f"prose: {total} idioms in {sentences} sentences ({100 * total / sentences:.1f} %)")
    return 1 if above else 0


def write_sources(folder: Path) -> dict[str, Path]:
    """What is read, by its name: documents as they are, the other texts as Markdown in a folder."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    documents = [*top, *sorted((ROOT / "docs").rglob("*.md"))]
    sources = {path.relative_to(ROOT).as_posix(): path for path in documents}
    for name, texts in ((UI, ui_texts()), (HELP, help_texts(commands))):
        path = folder / f"{name.replace(' ', '-')}.md"
        path.write_text("\n\n".join(re.sub(r"\s+", " ", text).strip() for text in texts), encoding="utf-8")
        sources[name] = path
    return sources


def ui_texts() -> Iterator[str]:
    """The English texts of the review app, without markup and placeholders."""
    with CATALOGUE.open("rb") as file:
        for message in read_po(file):
            for text in [message.id] if isinstance(message.id, str) else message.id:
                yield re.sub(r"<[^>]+>|%\(\w+\)[srd]", "X", text)


def help_texts(command: click.Command) -> Iterator[str]:
    """The help of a command, its options and the commands in it."""
    yield command.help or ""
    options = (parameter for parameter in command.params if isinstance(parameter, click.Option))
    yield from (option.help for option in options if option.help)
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            yield from help_texts(inner)


def run_textlint(sources: dict[str, Path]) -> dict[str, list[str]]:
    """What the rule says of each source, one line for each idiom."""
    names = {str(path.resolve()): name for name, path in sources.items()}
    done = subprocess.run([TEXTLINT, "--config", RULES / "textlintrc.json", "--rulesdir", RULES, "--format", "json",
                           *sources.values()], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout.startswith("["):
        raise SystemExit(f"prose: textlint failed: {done.stderr.strip()[:500]}")
    return {names[str(Path(result["filePath"]).resolve())]:
            [f"{message['line']}: {message['message']}" for message in result["messages"]]
            for result in json.loads(done.stdout)}


def count_sentences(text: str) -> int:
    """Sentences and table cells of at least four words, without code."""
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    pieces = re.split(r"\n\s*\n|\n(?=[-|#*]|\d+\.)|(?<=[.!?])\s+(?=[A-Z])|\s\|\s", text)
    return sum(len(piece.split()) >= _MIN_SENTENCE_WORDS for piece in pieces)


if __name__ == "__main__":
    sys.exit(main())
