"""Parses a rendered page as a browser would, and verifies it with the allow-lists.

The page was written token by token from lists (`rendering`, `allowed`). A browser makes a tree of it, by rules of its
own; so the tree is looked at, too, by another part of the library than the one that read the captured page.
"""

import turbohtml

from schemas import InputError

from . import allowed, restoring

_CLOSED_ADDRESSES = ('url("data:', 'url("#')


class UnsafePage(InputError):
    """A rendered page holds what may not stand in one: it is not shown."""


def prove(text: str) -> None:
    """Raise UnsafePage unless a page and the frames in it hold nothing that runs, fetches, navigates or sends."""
    document = turbohtml.parse(text, positions=False, scripting=True, allow_declarative_shadow_roots=False)
    for node in document.descendants:
        if isinstance(node, turbohtml.Element):
            _prove_element(node)


def _prove_element(element: turbohtml.Element) -> None:
    tag = element.tag.lower()
    attributes = {name: " ".join(value) if isinstance(value, list) else value or ""
                  for name, value in element.attrs.items()}
    if tag in allowed.PLACEHOLDERS and _is_placeholder(element, tag, attributes):
        return
    if tag == "script":
        # Parsers nest some five hundred elements and no more: in a page of more the script may lose its text.
        if element.text not in (restoring.SCRIPT, "") or attributes.keys() != {"data-fragment"}:
            raise UnsafePage("the page would run a script")
        return
    if not (allowed.element(tag) or tag in allowed.STRUCTURE):
        raise UnsafePage(f"the page would hold an element {tag[:40]!r}")
    if tag == "meta" and attributes == restoring.POLICY_ATTRIBUTES:
        return
    if tag == "style" and not _is_closed(element.text):
        raise UnsafePage("a style sheet of the page would fetch something")
    for name, value in attributes.items():
        _prove_attribute(tag, name.lower(), value)


def _is_placeholder(element: turbohtml.Element, tag: str, attributes: dict[str, str]) -> bool:
    """Whether an element is empty and only stands for one that was left out."""
    known = attributes.keys() <= allowed.PLACEHOLDER_ATTRIBUTES
    if not known or element.text or any(True for _ in element.descendants):
        return False
    if tag == "script":
        return attributes.get("type") == allowed.INERT_TYPE
    return "style" not in attributes or attributes["style"] == restoring.HIDDEN


def _prove_attribute(tag: str, name: str, value: str) -> None:
    match allowed.attribute(tag, name):
        case "plain":
            safe = True
        case "author's":
            safe = allowed.names_no_address(value)
        case "words":
            safe = allowed.is_words(value)
        case "css":
            safe = _is_closed(value)
        case "address" if name in ("srcdoc", allowed.WRITTEN):
            safe = tag in allowed.FRAMES
            prove(value)
        case "address" if name == allowed.FRAME_ADDRESSES.get(tag):
            safe = value == allowed.BLANK_PAGE
        case "address":
            safe = _is_address(tag, name, value)
        case _:
            safe = False
    if not safe:
        raise UnsafePage(f"the page would hold an attribute {name[:40]!r} of {tag[:40]!r} that may not stand there")


def _is_address(tag: str, name: str, value: str) -> bool:
    """Whether an address may stand: a link's that opens nothing of ours, a part of this page, or a picture itself."""
    named = name in ("href", "xlink:href")
    if tag in allowed.LINKS:
        return named and value == allowed.link(value)
    if named and value.startswith("#"):
        return True
    # Browsers read `<image>` in HTML as `<img>`.
    shows = name in allowed.PICTURES.get(tag, ()) or (tag == "img" and named)
    return shows and value.startswith("data:")


def _is_closed(css: str) -> bool:
    """Whether CSS names no address but data: and #."""
    folded = css.lower()
    start = folded.find("url(")
    while start >= 0:
        if not folded.startswith(_CLOSED_ADDRESSES, start):
            return False
        start = folded.find("url(", start + 4)
    return "@import" not in folded and "src(" not in folded
