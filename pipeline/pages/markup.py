"""Pieces of HTML text as a rendered page has them. Pure functions."""

import re
from collections.abc import Mapping
from urllib.parse import urljoin

from turbohtml import Token

from schemas import UID_ATTRIBUTE

_UID = re.compile(r"[\w.:-]{1,100}")
_DIGITS = re.compile(r"[0-9]{1,5}")
_IDENTIFIER = re.compile(r"[\w\-/. :+]{1,200}")


def doctype(token: Token) -> str:
    """A doctype with its identifiers, by which a browser chooses quirks mode (HTML standard, section 13.2.6.4.1)."""
    if (token.name or "").lower() != "html" or token.force_quirks:
        return ""
    public, system = (identifier if identifier is None or _IDENTIFIER.fullmatch(identifier) else ""
                      for identifier in (token.public_id, token.system_id))
    if public is not None:
        return f'<!DOCTYPE html PUBLIC "{public}"' + (">" if system is None else f' "{system}">')
    return "<!DOCTYPE html>" if system is None else f'<!DOCTYPE html SYSTEM "{system}">'


def escape_text(text: str) -> str:
    """A text as it is written between tags."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_value(value: str) -> str:
    """A value as it is written between double quotes."""
    return value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def canvas_size_rule(attributes: Mapping[str, str]) -> str:
    """A rule, weaker than any of the page's, that gives a canvas its size.

    Where no script may run it is but what stands in it for those who have none (HTML standard, section 4.12.5).
    """
    uid = attributes.get(UID_ATTRIBUTE, "")
    if not _UID.fullmatch(uid):
        return ""
    width, height = (int(attributes[name]) if _DIGITS.fullmatch(attributes.get(name, "")) else usual
                     for name, usual in (("width", 300), ("height", 150)))
    return (f':where([{UID_ATTRIBUTE}="{uid}"]){{display:inline-block;width:{width}px;'
            f"aspect-ratio:{width}/{height}}}")


def absolute(base: str, address: str) -> str:
    """An address in a document with that base; empty where it is none."""
    try:
        return address if address.startswith("data:") else urljoin(base, address)
    except ValueError:
        return ""


def attributes_text(attributes: Mapping[str, str]) -> str:
    """Attributes as they are written in a start tag."""
    return "".join([f' {name}="{escape_value(value)}"' for name, value in attributes.items()])


def media_attribute(attributes: Mapping[str, str]) -> dict[str, str]:
    """The media that a sheet applies to: none for one that is off, else as a script has set them, or the attribute."""
    if attributes.get("data-demotape-sheet") == "off" or "disabled" in attributes:
        return {"media": "not all"}
    media = attributes.get("data-demotape-media", attributes.get("media"))
    return {} if media is None else {"media": media}
