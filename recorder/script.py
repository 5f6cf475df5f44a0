"""The capture script as one source text, from the files that the extension loads one by one."""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent.parent / "extension" / "capture"
FILES = ("island.js", "secrets.js", "elements.js", "plain.js", "mirror.js", "table.js", "closed.js", "snapshot.js",
         "events.js")
WORLD = "demotape"
BINDING = "demotapeSend"
_START = f"""demotape.events.start(globalThis.{BINDING}, (field, value) =>
  globalThis.{BINDING}(JSON.stringify({{ type: "secret", field, value }})));"""


@cache
def capture_script() -> str:
    """Source for an isolated world that holds the binding; a second run in the same document does nothing."""
    source = "\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in FILES)
    return f"if (!globalThis.demotape) {{\n{source}\n{_START}\n}}"
