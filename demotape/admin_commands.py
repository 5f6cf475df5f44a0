"""The commands for who runs the review app: does all fit together, what can go, which jobs failed."""

from datetime import timedelta
from pathlib import Path

import click
from rich.progress import Progress

from schemas import DemotapeError, limits

from .terminal import errors, of_app, open_app, printable, tell
from .user_commands import of_database


@click.group()
def admin() -> None:
    """For who runs the review app."""


@admin.command("check")
@of_database
@of_app
def check(db: str | None, data: Path, blobs: str | None, endpoint_url: str | None) -> None:
    """Hold database and storage against each other, both ways; exit code 1 where something is missing."""
    from curator_web.jobs import upkeep

    opened, store = open_app(db, data, blobs, endpoint_url)
    missing = 0
    with Progress(console=errors, transient=True, disable=not errors.is_terminal) as bar:
        shown = bar.add_task("checking")
        for found in upkeep.check(opened, store, lambda done, total: bar.update(shown, completed=done, total=total)):
            tell(_line(found))
            missing += found.kind in (upkeep.MISSING, upkeep.LACKS, upkeep.BROKEN)
    if missing:
        raise DemotapeError(f"{missing} recordings are not as the database has them; import them again, or restore "
                            "them from a backup")


@admin.command("clean")
@click.option("--exports", "days", type=click.IntRange(0), help="Also exports that are older than so many days.")
@click.option("--recordings", is_flag=True, help="Also recordings that no demonstration is of.")
@click.option("--dry-run", is_flag=True, help="Only tell what would go.")
@of_database
@of_app
def clean(days: int | None, recordings: bool, dry_run: bool, db: str | None, data: Path, blobs: str | None,
          endpoint_url: str | None) -> None:
    """Take away what nothing refers to: exports without a job, packages that no import waits for."""
    from curator_web.jobs import upkeep

    opened, store = open_app(db, data, blobs, endpoint_url)
    count = size = 0
    for found in upkeep.unused(opened, store, None if days is None else timedelta(days=days)):
        if found.kind == upkeep.UNKNOWN and not recordings:
            continue
        if not dry_run:
            upkeep.remove(opened, store, found)
        tell(_line(found))
        count, size = count + 1, size + found.size
    errors.print(f"{count} would go, {limits.size(size)}." if dry_run else f"{count} taken away, {limits.size(size)}.")


def _line(found) -> str:
    size = f" ({limits.size(found.size)})" if found.size else ""
    return printable(f"{found.kind}: {found.name}{size}{', ' if found.detail else ''}{found.detail}")
