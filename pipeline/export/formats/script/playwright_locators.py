"""Locators of elements in a Playwright script: visible properties first, position in the page last.

All that is captured goes into the script as a literal of Python in ASCII.
"""

import re

from pipeline.pages.allowed import FRAMES
from pipeline.pages.dom import TAG_ATTRIBUTE, Page
from pipeline.privacy.redacting import has_redactions
from schemas.types.recordings import Element

_ROLE = re.compile(r"[a-z]{1,30}")
_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,60}")
_FIELDS = ("input", "select", "textarea")
_MAX_TEXT_CHARS = 80  # characters of a text by which an element is found
_FRAMES = ("iframe", "frame")  # in which Playwright finds elements
_NAMES = ("id", "name", "title")  # of a frame, the steadiest first


def literal(value: object) -> str:
    """A value as a literal of Python, in ASCII and on one line."""
    return ascii(value)


def ways(scope: str, element: Element) -> list[str]:
    """Expressions of Playwright locators in `scope`, the most robust first; none with what was taken out."""
    role, name, tag, attributes = element["role"], element["name"].strip(), element["tag"], element["attributes"]
    locators = []
    if _known(attributes.get("data-testid")):
        locators.append(f"get_by_test_id({literal(attributes['data-testid'])})")
    if _ROLE.fullmatch(role) and _known(name):
        locators.append(f"get_by_role({literal(role)}, name={literal(name)}, exact=True)")
    if tag in _FIELDS and _known(name):
        locators.append(f"get_by_label({literal(name)}, exact=True)")
    if _known(attributes.get("placeholder")):
        locators.append(f"get_by_placeholder({literal(attributes['placeholder'])}, exact=True)")
    if tag in _FIELDS and _known(attributes.get("name")):
        locators.append(_css(tag + _has("name", attributes["name"])))
    if _known(attributes.get("id")):
        locators.append(_css(_has("id", attributes["id"])))
    text = element["text"].strip()
    by_text = not (role and name) and tag not in (*_FIELDS, "html", "body", "form") and len(text) < _MAX_TEXT_CHARS
    if by_text and _known(text):
        locators.append(f"get_by_text({literal(text)}, exact=True)")
    locators += [f"locator({literal(f'{kind}={path}')})" for kind, path in (("css", element["css"]),
                                                                         ("xpath", element["xpath"])) if _known(path)]
    return [f"{scope}.{way}" for way in dict.fromkeys(locators)]


def frames(page: Page | None, frame: list[str]) -> str | None:
    """The scope of an element: `page`, or the frames down to it; None when one of them is not known."""
    scope = "page"
    for depth, uid in enumerate(frame):
        frame_element = page.elements.get(page.uid(frame[:depth], uid)) if page else None
        if page is None or frame_element is None or (tag := frame_element.get(TAG_ATTRIBUTE,
                                                                              frame_element.tag)) not in _FRAMES:
            return None
        document = _document(frame_element)
        beside = [candidate for candidate in page.elements.values()
                  if candidate.get(TAG_ATTRIBUTE) in _FRAMES and _document(candidate) is document]
        for name in _NAMES:
            value = frame_element.get(name)
            if _known(value) and sum(candidate.get(name) == value for candidate in beside) == 1:
                scope += f".frame_locator({literal(f'css={tag}{_has(name, value)}')})"
                break
        else:
            scope += f".locator('css=iframe, frame').nth({beside.index(frame_element)}).content_frame"
    return scope


def _document(frame):
    """The frame element that a frame of a flattened page stands in; None for those of the top document."""
    return next((ancestor for ancestor in frame.iterancestors() if ancestor.get(TAG_ATTRIBUTE) in FRAMES), None)


def _known(value: str | None) -> bool:
    return value is not None and value != "" and not has_redactions(value.encode("utf-8", "replace"))


def _css(selector: str) -> str:
    return f"locator({literal(f'css={selector}')})"


def _has(name: str, value: str) -> str:
    """A selector of an attribute with that value."""
    if name == "id" and _ID.fullmatch(value):
        return f"#{value}"
    escaped = "".join(f"\\{ord(sign):x} " if sign in '"\\' or not sign.isprintable() else sign for sign in value)
    return f'[{name}="{escaped}"]'
