"""Folders that a command makes: none stays if the command fails before anything of use is in it."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .terminal import errors


@contextmanager
def new_folder(folder: Path, title: str = "") -> Iterator[Callable[[], None]]:
    """Have a folder that did not exist before removed, with the folders above it, if the command fails; one that
    existed and was empty is emptied.

    The function that is given keeps it, and prints `title` with its name if it is new; so does the end without an
    error.
    """
    was_empty = folder.is_dir() and not any(folder.iterdir())
    above = [path for path in (folder, *folder.absolute().parents) if not path.exists()]
    is_useful = False

    def keep() -> None:
        nonlocal is_useful
        if above and not is_useful and title and folder.exists():
            errors.print(f"{title} {folder} created.")
        is_useful = True

    try:
        yield keep
    except BaseException:
        if is_useful:
            raise
        if was_empty:
            for path in folder.iterdir():
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        elif above:
            shutil.rmtree(folder, ignore_errors=True)
            for path in above[1:]:
                with suppress(OSError):  # something else is in it by now
                    path.rmdir()
        raise
    keep()
