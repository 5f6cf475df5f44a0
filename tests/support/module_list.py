"""`python -m tests.support.module_list`: the list of modules in docs/development.md, from their first sentences."""

import ast
import re
from pathlib import Path

from .checkout import ROOT

DOCUMENT = ROOT / "docs" / "development.md"
HEADING = "## Every module\n"
ROOMS = ("schemas", "extension", "recorder", "pipeline", "replay", "curator_web", "demotape")
LEFT_OUT = {"__init__.py", "versions", "vendor"}


def first_sentence(path: Path) -> str:
    """What a module says of itself: the first sentence of its docstring, or of its first comment."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        paragraph = (ast.get_docstring(ast.parse(source)) or "").partition("\n\n")[0]
    else:
        paragraph = re.match(r"(// .*\n)*", source)[0].replace("// ", "")
    return re.split(r"\.(?= [A-Z])", " ".join(paragraph.split()))[0].rstrip(".")


def listing() -> str:
    """The list as Markdown."""
    lines = []
    for room in ROOMS:
        folder = None
        for path in sorted((ROOT / room).rglob("*"), key=lambda path: (path.parent.as_posix(), path.name)):
            if path.suffix not in (".py", ".js") or LEFT_OUT & set(path.parts) or "static" in path.parts:
                continue
            if folder != path.parent:
                folder = path.parent
                lines.append(f"\n### {folder.relative_to(ROOT).as_posix()}/\n")
            lines.append(f"- `{path.name}`: {first_sentence(path)}")
    return "\n".join(lines) + "\n"


def with_listing(document: str) -> str:
    """The document with the list as it should be."""
    head, _, rest = document.partition(HEADING)
    comment = re.match(r"\n<!--.*?-->\n", rest)
    return head + HEADING + (comment[0] if comment else "") + listing()


if __name__ == "__main__":
    DOCUMENT.write_text(with_listing(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
