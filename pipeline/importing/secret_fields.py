"""Secret fields of foreign pages: what is typed into them is replaced, as recordings never hold it."""

import re
from collections.abc import Mapping
from typing import Any

from schemas import REDACTED

_AUTOCOMPLETE = re.compile(r"(^|\s)(one-time-code|cc-(number|csc)|(current|new)-password)(\s|$)", re.IGNORECASE)


def is_secret_field(attributes: Mapping[str, Any]) -> bool:
    """Whether the attributes are of a field for passwords, one-time codes or card data."""
    kind, hint = attributes.get("type"), attributes.get("autocomplete")
    return (isinstance(kind, str) and kind.strip().lower() == "password") or (
        isinstance(hint, str) and bool(_AUTOCOMPLETE.search(hint)))


def without_secret(attributes: dict[str, str]) -> dict[str, str]:
    """The attributes of a field, its value replaced where it is secret."""
    if attributes.get("value") and is_secret_field(attributes):
        return attributes | {"value": REDACTED}
    return attributes
