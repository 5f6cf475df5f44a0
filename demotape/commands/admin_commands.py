"""The commands for who runs the review app: does all fit together, what can go, which jobs failed."""

import os
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import click

from schemas import DemotapeError, limits
from schemas.files import reason

from .app_data import new_data_folder, of_app, of_database, open_app, open_database
from .terminal import PATH, counted, errors, print_line, printable


@click.group()
def admin() -> None:
    """Maintain the review app."""


@admin.command("check")
@of_database
@of_app
def check(db: str | None, data: Path, blobs: str | None, endpoint_url: str | None) -> None:
    """Check that database and stored files match; the exit code is 1 if files are missing."""
    from curator_web.jobs import upkeep

    opened, store = open_app(db, data, blobs, endpoint_url)
    missing = 0
    with counted("checking") as shown:
        for finding in upkeep.check(opened, store, shown):
            print_line(_line(finding))
            missing += finding.kind in (upkeep.MISSING, upkeep.LACKS, upkeep.BROKEN)
    if missing:
        raise DemotapeError(f"{missing} recordings do not match the database; import them again, or restore them "
                            "from a backup")


@admin.command("doctor")
@click.option("--fix", is_flag=True, help="Fix what can be fixed by the command: permissions of files.")
@of_database
def doctor(fix: bool, db: str | None, data: Path) -> None:
    """Examine the installation: permissions of files, accounts, secrets in command lines, open ports, versions of
    libraries, free space. The exit code is 1 if something is unsafe."""
    from demotape.doctor import examine

    opened = open_database(db, data)
    remaining = 0
    for finding in examine(opened, data, hosts=os.environ.get("DEMOTAPE_HOSTS", ""),
                           https=os.environ.get("DEMOTAPE_HTTPS") == "1"):
        if fix and finding.mend:
            finding.mend()
        else:
            remaining += 1
        suffix = ("; fixed" if fix else "; fix it with --fix") if finding.mend else ""
        print_line(printable(f"{finding.kind}: {finding.text}{suffix}"))
    if remaining:
        raise DemotapeError(f"{remaining} problem{'s' * (remaining != 1)} found, see above")


@admin.command("clean")
@click.option("--exports", "days", type=click.IntRange(0), help="Also delete exports older than this number of days.")
@click.option("--recordings", is_flag=True, help="Also delete recordings without a demonstration.")
@click.option("--dry-run", is_flag=True, help="Show what would be deleted.")
@of_database
@of_app
def clean(days: int | None, recordings: bool, dry_run: bool, db: str | None, data: Path, blobs: str | None,
          endpoint_url: str | None) -> None:
    """Delete unused files: exports without a job, and packages without a pending import."""
    from curator_web.jobs import upkeep

    opened, store = open_app(db, data, blobs, endpoint_url)
    count = size = 0
    for finding in upkeep.unused(opened, store, None if days is None else timedelta(days=days)):
        if finding.kind == upkeep.UNKNOWN and not recordings:
            continue
        if not dry_run:
            upkeep.remove(opened, store, finding)
        print_line(_line(finding))
        count, size = count + 1, size + finding.size
    errors.print(f"{count} {'would be deleted' if dry_run else 'deleted'}, {limits.size(size)}.")


@admin.command("backup")
@click.argument("folder", metavar="DIR", type=PATH)
@click.option("--prune", is_flag=True, help="Delete files from the backup that the app no longer has.")
@of_database
@of_app
def backup(folder: Path, prune: bool, db: str | None, data: Path, blobs: str | None, endpoint_url: str | None) -> None:
    """Write a backup of database and storage into the folder DIR. The app may be running. Files of an earlier backup in
    DIR are not copied again."""
    from curator_web.operation.backing_up import back_up

    opened, store = open_app(db, data, blobs, endpoint_url)
    with counted("backup") as progress, _report_disk_full(folder):
        report = back_up(opened, store, folder, prune=prune, progress=progress)
    errors.print(f"{folder}: backup complete; {report.files} files, {limits.size(report.size)}: "
                 f"{_copied(report.counts)}.")
    if report.lacking:
        for name in report.lacking:
            print_line(printable(f"recording missing: {name}"))
        raise DemotapeError(f"{len(report.lacking)} recordings are missing in the storage and in the backup; run: "
                            "demotape admin check")


@admin.command("restore")
@click.argument("folder", metavar="DIR", type=PATH)
@of_database
@of_app
def restore(folder: Path, db: str | None, data: Path, blobs: str | None, endpoint_url: str | None) -> None:
    """Restore the backup in the folder DIR into an empty database and an empty storage. Run the command again to resume
    an interrupted restore."""
    from curator_web import default_db_url
    from curator_web.operation.backup_folder import read_head
    from curator_web.operation.restoring import restore as restore_backup
    from curator_web.storage.opening import open_store

    read_head(folder)  # before anything is made
    with new_data_folder(data) as keep, counted("restore") as progress, _report_disk_full(folder):

        def advance(done: int, total: int, name: str) -> None:
            keep()  # what is restored stays, as the next run continues with it
            progress(done, total, name)
        counts = restore_backup(folder, db or default_db_url(data), open_store(data, blobs, endpoint_url), advance)
    errors.print(f"{folder}: restored; {_copied(counts)}.")


@admin.command("move")
@click.option("--to", required=True, metavar="PLACE", help="s3://bucket/prefix, or a data folder.")
@click.option("--remove", is_flag=True, help="Delete copied files from the old location; stop the app first.")
@of_database
@of_app
def move(to: str, remove: bool, db: str | None, data: Path, blobs: str | None, endpoint_url: str | None) -> None:
    """Copy recordings and exports into another data folder or S3. Run the command again to copy missing files."""
    from curator_web.operation import moving
    from curator_web.storage.objects import is_address
    from curator_web.storage.opening import open_store

    opened, store = open_app(db, data, blobs, endpoint_url)
    target = open_store(data, to, endpoint_url) if is_address(to) else open_store(to)
    with counted("move") as progress, _report_disk_full(Path(to)):
        report = moving.move(opened, store, target, remove=remove, progress=progress)
    removed_note = f", {report.removed} deleted in {store.location}" if remove else ""
    errors.print(f"{to}: {_copied(report.counts)}{removed_note}.")
    if report.waiting:
        errors.print(f"{report.waiting} packages are not imported yet and remain in {store.location}; let the app "
                     "import them before it is started with the new location.")


@admin.command("rotate-key")
@of_database
@of_app
def rotate_key(db: str | None, data: Path, blobs: str | None, endpoint_url: str | None) -> None:
    """Replace the key of sessions and encrypted secrets while the app is stopped. All users must sign in again."""
    from curator_web.operation import rotating

    done = rotating.rotate_key(*open_app(db, data, blobs, endpoint_url))
    errors.print(f"The key was replaced; {done.sessions} sessions ended. Start the app again.")
    if done.recovery_codes:
        errors.print(f"The recovery codes of {', '.join(done.recovery_codes)} are no longer valid; these users can "
                     "turn the second factor off and on to get new ones.")
    if done.webhooks:
        errors.print(f"Webhooks {', '.join(map(str, done.webhooks))} need a new secret: the old one was encrypted "
                     "with a different key.")


@contextmanager
def _report_disk_full(folder: Path):
    try:
        yield
    except OSError as error:
        raise DemotapeError(f"{error.filename or folder}: {reason(error)}; fix this, then run the command again to "
                            "resume") from None


def _copied(counts) -> str:
    return f"{counts.copied} copied ({limits.size(counts.size)}), {counts.there} already present"


def _line(finding) -> str:
    size = f" ({limits.size(finding.size)})" if finding.size else ""
    return printable(f"{finding.kind}: {finding.name}{size}{', ' if finding.detail else ''}{finding.detail}")
