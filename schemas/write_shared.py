"""`python -m schemas.write_shared`: writes extension/shared.js from shared.json, after a change of shared.json."""

from pathlib import Path

SOURCE = Path(__file__).with_name("shared.json")
TARGET = Path(__file__).resolve().parents[1] / "extension" / "shared.js"


def script() -> str:
    """The declaration as a plain script, which defines `globalThis.demotapeShared`."""
    content = SOURCE.read_text(encoding="utf-8").strip()
    return ("// What Python and JavaScript share: schemas/shared.json, written by `python -m schemas.write_shared`.\n"
            f"globalThis.demotapeShared = {content};\n")


if __name__ == "__main__":
    TARGET.write_text(script(), encoding="utf-8")
