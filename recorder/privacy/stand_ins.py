"""Secrets replaced by stand-ins, equal for equal secrets: so requests and responses with secrets still match in a
replay, and a login works without the password."""

import html
import re
from urllib.parse import unquote_plus

from .secret_values import Secrets

_STAND_IN = "demotape-secret-"
_IS_ONE = re.compile(rf"(?:{_STAND_IN}\d+)")


class StandIns(Secrets):
    """What `secrets` knows, each replaced by a numbered word instead of one word for all.

    The word has letters, digits and `-` only: it stands as it is in HTML, in JSON and in addresses.
    """

    def __init__(self, secrets: Secrets):
        super().__init__()
        self._known = secrets
        self._numbers: dict[str, int] = {}

    def instead(self, value: str) -> str:
        """The stand-in of a secret, however it is written."""
        value = value.strip()
        if _IS_ONE.fullmatch(value):
            return value
        value = self._known.value_of(value) or html.unescape(unquote_plus(value))
        return f"{_STAND_IN}{self._numbers.setdefault(value, len(self._numbers) + 1)}"

    def in_text(self, text: str) -> str:
        """A text with every secret in it replaced."""
        self._follow()
        return super().in_text(text)

    def in_markup(self, text: str) -> str:
        """HTML with every secret in it replaced."""
        self._follow()
        return super().in_markup(text)

    def in_request(self, text: str) -> str:
        """What a page sends, with every secret in it replaced."""
        self._follow()
        return super().in_request(text)

    def _follow(self) -> None:
        """Take over what has become known since."""
        self._inside, self._whole_words, self._whole_values = self._known.patterns
