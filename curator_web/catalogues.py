"""`python -m curator_web.catalogues`: brings the catalogues of the pages' texts up to date with the sources, and
compiles them. What was translated is kept, what is new is left empty, what no page says any more is left out."""

import io
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOM = Path(__file__).parent
FOLDER = ROOM / "translations"
DOMAIN = "messages"
METHODS = [("**.py", "python"), ("web/templates/**.html", "jinja2")]
OPTIONS = {"web/templates/**.html": {"trim_blocks": "true", "lstrip_blocks": "true", "silent": "false"}}
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    "_": None, "_l": None, "gettext": None, "ErrorText": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2)}
_ALWAYS = datetime(2026, 1, 1, tzinfo=UTC)  # the same sources give the same bytes


def languages() -> list[str]:
    """Those that there are catalogues of."""
    return sorted(path.name for path in FOLDER.iterdir() if (path / "LC_MESSAGES").is_dir())


def po_file(language: str) -> Path:
    """Where the texts of a language stand, for people."""
    return FOLDER / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def sources() -> Catalog:
    """All texts that the sources mark for translation, each with the files that it is in."""
    catalogue = Catalog(charset="utf-8")
    for name, _, texts, _, context in extract_from_dir(ROOM, METHODS, OPTIONS, KEYWORDS):
        catalogue.add(texts, None, [(f"curator_web/{name}", 1)], context=context)
    return catalogue


def read(language: str) -> Catalog:
    """The catalogue of a language as it is kept; empty where there is none yet."""
    path = po_file(language)
    return read_po(io.BytesIO(path.read_bytes()), locale=language) if path.exists() else Catalog(locale=language)


def updated(language: str, texts: Catalog) -> Catalog:
    """The catalogue that a language has to have: all texts, with what is known of their translations."""
    known = read(language)
    new = Catalog(locale=language, domain=DOMAIN, project="demotape", version="1", fuzzy=False, charset="utf-8",
                  copyright_holder="the demotape authors", msgid_bugs_address="none", last_translator="none",
                  language_team="none", creation_date=_ALWAYS, revision_date=_ALWAYS)
    for message in sorted((message for message in texts if message.id),
                          key=lambda message: (str(message.id), message.context or "")):
        before = known.get(message.id if isinstance(message.id, str) else message.id[0], message.context)
        translation = before.string if before is not None and type(before.id) is type(message.id) else None
        new.add(message.id, translation, sorted(set(message.locations)), message.flags - {"fuzzy"},
                context=message.context)
    return new


def compiled(catalogue: Catalog) -> bytes:
    """What programs read."""
    written = io.BytesIO()
    write_mo(written, catalogue)
    return written.getvalue()


def main() -> None:
    """Write them all, and say how many texts of each are not translated."""
    texts = sources()
    for language in languages():
        catalogue, path = updated(language, texts), po_file(language)
        with path.open("wb") as file:
            write_po(file, catalogue, width=120, include_lineno=False)
        path.with_suffix(".mo").write_bytes(compiled(catalogue))
        lacking = sum(not all(message.string if isinstance(message.string, tuple) else (message.string,))
                      for message in catalogue if message.id)
        print(f"{language}: {len(catalogue)} texts, {lacking} not translated")


if __name__ == "__main__":
    main()
