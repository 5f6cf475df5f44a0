"""Texts as they are searched."""

import unicodedata


def plain(text: str) -> str:
    """A text in small letters without accents."""
    return without_marks(text).casefold()


def without_marks(text: str) -> str:
    """A text without accents and other combining marks, in compatible letters (NFKD)."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
