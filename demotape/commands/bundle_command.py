"""The command that writes runs to one HTML file."""

from pathlib import Path

import click

from schemas import DemotapeError, InputError

from .summary import human_size
from .terminal import PATH, complain, console, hint, progress


@click.command()
@click.argument("recordings", nargs=-1, required=True, type=PATH)
@click.argument("out", type=PATH)
@click.option("--without", multiple=True, type=click.Choice(("pages", "network")),
              help="Content that is left out; repeatable.")
@click.option("--screenshots", type=click.Choice(["png", "webp", "jpg"]), default="jpg", show_default=True,
              help="Encoding of the screenshots.")
@click.option("--allow", multiple=True, metavar="KIND",
              help="Kind of personal data that is not redacted: email, phone, card, iban, id or token; repeatable.")
def bundle(recordings: tuple[Path, ...], out: Path, without: tuple[str, ...], screenshots: str,
           allow: tuple[str, ...]) -> None:
    """Write RECORDINGS, or all in these folders, to OUT, one HTML file that any browser shows offline.

    Shows turns, screenshots, rendered pages, requests and outcome checks, without what exports redact. With several
    recordings, those after the first are compared with it. An existing file is replaced.
    """
    from demotape.importing import recordings_in
    from pipeline.bundle import write_bundle
    from pipeline.export import Options

    if out.suffix.lower() not in (".html", ".htm") or out.is_dir():
        raise InputError(f"{out}: the last argument is the file to write; its name must end with .html")
    options = Options(screenshots=screenshots, allow=frozenset(allow))
    folders = [folder for path in recordings for folder in recordings_in(path) or [path]]
    with progress("Bundling", len(folders)) as step:
        result = write_bundle(folders, out, options=options, without=without, progress=step)
    console.print(f"Wrote {result.runs} {'run' if result.runs == 1 else 'runs'}, {result.turns} turns, "
                  f"{human_size(result.size)}: {out}")
    for note in result.notes:
        console.print(f"  {note}")
    for failure in result.failed:
        complain("failed", f"{failure.id}: {failure.reason}")
    if result.failed:
        raise DemotapeError(f"{len(result.failed)} of {len(folders)} recordings could not be read; the file shows "
                            "the others")
    hint("Open it in a browser; it needs no network", to=console)
