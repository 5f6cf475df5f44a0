"""The text of a Word file (ECMA-376), as meeting tools save transcripts: a line for each paragraph and line break."""

import io
import zipfile
import zlib

from lxml import etree

from schemas import limits

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DOCUMENT = "word/document.xml"
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # of the others zipfile unpacks more than it is asked for
# What zipfile raises for a damaged file; RuntimeError for an encrypted one.
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, RuntimeError)


def text_of(content: bytes) -> str | None:
    """The text; None for what is no Word file, or larger than a chat may be."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if archive.getinfo(_DOCUMENT).compress_type not in _PACKINGS:
                return None
            with archive.open(_DOCUMENT) as file:
                document = file.read(limits.CHAT + 1)
    except _BROKEN:
        return None
    if len(document) > limits.CHAT:
        return None
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(document, parser)
    except etree.XMLSyntaxError:
        return None
    return "\n".join(_paragraph(paragraph) for paragraph in root.iter(f"{_WORD}p"))


def _paragraph(paragraph: etree._Element) -> str:
    parts = {"t": lambda run: run.text or "", "br": lambda run: "\n", "cr": lambda run: "\n", "tab": lambda run: "\t"}
    return "".join(parts[name](run) for run in paragraph.iter(etree.Element)
                   if (name := run.tag.removeprefix(_WORD)) in parts)
