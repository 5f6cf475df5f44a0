"""Type text by trusted keys, as fast as a page accepts them."""

import asyncio
from collections.abc import Awaitable, Iterator

from playwright.async_api import Keyboard

_AHEAD = 20  # letters that are under way at most


async def type_text(keyboard: Keyboard, text: str, *, ahead: bool) -> None:
    """Press and release the key of each letter; one that no key has is put in as an input method does.

    `ahead`: send keys on before the page has taken in those before. It takes them in in their order, but where one
    opens a dialog, those after it are lost. Raises playwright's Error when the page is gone.
    """
    if not ahead:
        await keyboard.type(text)
        return
    for start in range(0, len(text), _AHEAD):
        letters = text[start:start + _AHEAD]
        await asyncio.gather(*(step for letter in letters for step in _strokes(keyboard, letter)))


def changed(before: str, after: str) -> tuple[int, int]:
    """How many characters at the beginning, and how many at the end, two texts have in common."""
    shortest = min(len(before), len(after))
    first = next((index for index in range(shortest) if before[index] != after[index]), shortest)
    last = next((index for index in range(shortest - first) if before[-1 - index] != after[-1 - index]),
                shortest - first)
    return first, last


def _strokes(keyboard: Keyboard, letter: str) -> Iterator[Awaitable[None]]:
    if letter == "\n" or letter.isascii() and letter.isprintable():
        yield keyboard.down(letter)
        yield keyboard.up(letter)
    else:
        yield keyboard.insert_text(letter)
