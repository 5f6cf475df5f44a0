"""Files that a page is given: chosen in its file field, or dropped on what takes them."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.async_api import Page

from .finding import ElementMatch, call_on

_MAX_NAME_BYTES = 200
_CONTENT = b"A file of this name was uploaded when the session was recorded; its content was not kept.\n"
_IS_FILE_INPUT = '(e) => e.localName === "input" && e.type === "file"'
_COPY = 1  # Input.DragData.dragOperationsMask


def make_files(names: Sequence[str], folder: Path) -> list[str]:
    """Make files of these names below `folder`, where they stay, as a form may send them later; returns their paths."""
    below = Path(tempfile.mkdtemp(dir=folder))
    paths = []
    for number, name in enumerate(names):
        path = below / str(number) / _file_name(name)
        path.parent.mkdir()
        path.write_bytes(_CONTENT)
        paths.append(str(path))
    return paths


async def is_file_input(match: ElementMatch) -> bool:
    """Whether an element is a file field."""
    return bool(await call_on(match, _IS_FILE_INPUT))


async def choose_files(match: ElementMatch, paths: Sequence[str]) -> None:
    """Give files to a file field."""
    await match.session.send("DOM.setFileInputFiles", {"files": list(paths), "objectId": match.object_id})


async def drop_files(page: Page, point: tuple[float, float], paths: Sequence[str]) -> None:
    """Drop files from outside the browser at a point of the viewport, CSS pixels."""
    session = await page.context.new_cdp_session(page)
    data = {"items": [], "files": list(paths), "dragOperationsMask": _COPY}
    for kind in ("dragEnter", "dragOver", "drop"):
        await session.send("Input.dispatchDragEvent", {"type": kind, "x": point[0], "y": point[1], "data": data})
    await session.detach()


def _file_name(name: str) -> str:
    """A recorded file's name without a path, for any system."""
    last = name.replace("\\", "/").rpartition("/")[2].replace("\0", "")
    short = last.encode(errors="replace")[:_MAX_NAME_BYTES].decode(errors="ignore")
    return short if short.strip(". ") else "file"
