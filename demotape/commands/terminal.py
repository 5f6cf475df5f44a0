"""The terminal: what all commands write to, show progress on, and complain on."""

from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from schemas import DemotapeError

from .hints import copyable

PATH = click.Path(path_type=Path)
console = Console(highlight=False, soft_wrap=True, markup=False)
errors = Console(stderr=True, highlight=False, soft_wrap=True, markup=False)


@contextmanager
def progress(title: str, total: int | None = None):
    """A progress bar with the time left on a terminal, nothing elsewhere; yields a function that tells the next step's
    name. What is printed meanwhile, by `print_line` and `complain`, stands above it."""
    if not errors.is_terminal:
        yield lambda name: None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    time = TimeElapsedColumn() if total is None else TimeRemainingColumn(elapsed_when_finished=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), time)
    with Progress(*columns, console=errors, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda name: bar.update(task, advance=1, description=f"{title}: {printable(name[-60:])}")


@contextmanager
def counted(title: str):
    """As `progress`, of what may begin anew; yields what tells how many are done of how many, and which comes next."""
    if not errors.is_terminal:
        yield lambda done, total, name="": None
        return
    from rich.progress import Progress

    with Progress(console=errors, transient=True) as bar:
        task = bar.add_task(title)
        yield lambda done, total, name="": bar.update(
            task, completed=done, total=total, description=f"{title}: {printable(name[-60:])}" if name else title)


def print_line(line: str) -> None:
    """Print a result. Where it goes to the terminal that also shows a bar, the bar makes room for it."""
    (errors if console.is_terminal and errors.is_terminal else console).print(line)


def complain(kind: str, problem: DemotapeError | str) -> None:
    errors.print(f"{kind}: {copyable(printable(str(problem)))}", style="red")


def hint(text: str, *, to: Console) -> None:
    """Print a text with a command to go on with."""
    to.print(copyable(text))


def printable(text: str) -> str:
    """Text that is not ours, without control characters that a terminal would obey."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
