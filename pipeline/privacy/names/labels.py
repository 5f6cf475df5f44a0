"""Labels and fields that announce a name or an address: contexts made of a page or a turn."""

import re
from collections.abc import Iterator
from typing import Any

from pipeline.pages.dom import Element

from . import lists
from .words import GREETINGS, LABELS, TITLES

PERSON_FIELDS = frozenset({
    "name", "given-name", "additional-name", "family-name", "cc-name", "cc-given-name", "cc-family-name", "firstname",
    "lastname", "fullname", "givenname", "familyname", "surname", "displayname", "customername", "username-display",
    "contactname", "recipient", "cardholder", "cardholdername", "passengername", "guestname", "vorname", "nachname",
    "prenom", "nom", "nombre", "apellido", "apellidos"})
ADDRESS_FIELDS = frozenset({
    "street-address", "address-line1", "address-line2", "address-line3", "postal-code", "street", "streetaddress",
    "address", "address1", "address2", "addressline1", "addressline2", "postalcode", "zipcode", "zip", "postcode",
    "plz",
    "strasse", "adresse", "direccion", "calle", "codepostal", "codigopostal"})
_LONGEST_LABEL = 40
_LONGEST_VALUE = 200
_LABELS = tuple(LABELS)
_LABELLING = frozenset({"dt", "th", "label", "legend"})  # two of these, and the second is no value of the first
_SILENT = frozenset({"script", "style", "noscript", "template"})


def field_kind(attributes: Any) -> str | None:
    """`person` or `address` where a field's `autocomplete`, or else its name or id, says that it takes one."""
    tokens = str(attributes.get("autocomplete", "")).lower().split()
    labels = [tokens[-1]] if tokens and tokens[-1] not in ("on", "off") else [
        re.sub(r"[^a-z0-9]", "", re.split(r"[\[\].]", str(attributes.get(attribute, "")).rstrip("]"))[-1].lower())
        for attribute in ("name", "id")]
    if any(label in PERSON_FIELDS - {"name"} or (label == "name" and tokens) for label in labels):
        return "person"
    return "address" if any(label in ADDRESS_FIELDS for label in labels) else None


def is_value(text: str, kind: str) -> bool:
    """Whether what a field holds may be a name or an address."""
    text = text.strip()
    if "[" in text or not 2 <= len(text) <= _LONGEST_VALUE or not any(character.isalnum() for character in text):
        return False
    if kind == "address":
        return len(text) > 3
    return len(text) <= 60 and len(text.split()) <= 5 and not any(character.isdigit() or character in "@/:"
                                                                  for character in text)


def in_fields(root: Element) -> Iterator[tuple[str, str]]:
    """What the fields of a page hold that take names and addresses, with the kind."""
    for field in root.iter("input", "textarea", "select"):
        value = field.get("value") or (field.text if field.tag == "textarea" else "") or ""
        kind = field_kind(field.attrib)
        if kind and field.get("type", "text").lower() in ("text", "search", "") and is_value(value, kind):
            yield value.strip(), kind


def contexts(root: Element) -> list[str]:
    """Texts that say what is a name only together: a label with what follows it."""
    values: dict[str, None] = {}
    label, labels_tag = "", ""
    for text, tag in _in_order(root):
        if label and len(text) <= _LONGEST_VALUE and not (tag == labels_tag and tag in _LABELLING):
            values[f"{label} {text}"] = None
            if label[-1] not in ":：,=" and _may_be_name(text):
                values[f"{label}: {text}"] = None
        if tag != "input":
            label, labels_tag = text if _is_label(text) else "", tag
    return list(values)


def _is_label(text: str) -> bool:
    if len(text) > _LONGEST_LABEL or "\n" in text:
        return False
    bare = text.lower().rstrip(" :：,=*0123456789")
    return any(character > "\u1100" for character in bare) or bare.endswith(_LABELS) or bare in GREETINGS | TITLES


def _may_be_name(text: str) -> bool:
    """Whether a text that follows a label without a colon is no single word that nobody is called."""
    known = lists.latin()
    return " " in text or text.lower() in known.first_names | known.surnames or any(character > "\u1100"
                                                                                    for character in text)


def _in_order(root: Element) -> Iterator[tuple[str, str]]:
    """Texts and values of fields in the order of the page, with the tag of what holds them; `input` for values."""
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        if element.tag not in _SILENT:
            if element.tag == "input" and (value := (element.get("value") or "").strip()):
                yield value, "input"
            if element.text and (text := element.text.strip()):
                yield text, "input" if element.tag == "textarea" else element.tag
        if element.tail and (text := element.tail.strip()):
            yield text, ""
