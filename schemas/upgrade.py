"""Versions of the formats, and the steps that convert data of earlier versions to the current one.

A step makes one piece (a file, or a line of one) of version n one of version n + 1. Steps run when something is read,
before it is checked; files are never rewritten. docs/format.md tells when a version is due and how a step is written.
"""

from collections.abc import Callable
from typing import Any

from .errors import InputError

Step = Callable[[dict[str, Any]], dict[str, Any]]

VERSIONS: dict[str, int] = {
    "demotape/recording": 2, "demotape/demonstration": 1, "demotape/processed": 1, "demotape/package": 3,
    "demotape/export": 1, "demotape/proof": 1, "demotape/outcome": 1,
    "demotape/backup": 1,
}

# Which format's version each piece is of.
PIECES: dict[str, str] = {
    "recording": "demotape/recording",
    "event": "demotape/recording",
    "chat line": "demotape/recording",
    "resource": "demotape/recording",
    "exchange": "demotape/recording",
    "message": "demotape/recording",
    "console line": "demotape/recording",
    "agent step": "demotape/recording",
    "demonstration": "demotape/demonstration",
    "edit": "demotape/demonstration",
    "processed": "demotape/processed",
    "package": "demotape/package",
    "package line": "demotape/package",
    "export": "demotape/export",
    "proof": "demotape/proof",
    "outcome": "demotape/outcome",
    "backup": "demotape/backup",
    "backup line": "demotape/backup",
}

# The pieces that say their format and version themselves; the others are of the version of what they lie beside.
HEADS = frozenset(format.rpartition("/")[2] for format in VERSIONS)

# STEPS[piece][n] makes a piece of version n one of n + 1, a new dict; the version's number is not its business. Where
# there is none, a piece of version n is one of n + 1 as it stands. Its input was not checked by any schema.
STEPS: dict[str, dict[int, Step]] = {piece: {} for piece in PIECES}


def _name_frame_group(line: dict[str, Any]) -> dict[str, Any]:
    """Version 1 of a package called a frame group an island."""
    if line.get("kind") != "page" or not line["message"].get("snapshot"):
        return line
    old = line["message"]["snapshot"]
    snapshot = {"frame_group" if name == "island" else name: value for name, value in old.items()}
    return line | {"message": line["message"] | {"snapshot": snapshot}}


STEPS["package line"][1] = _name_frame_group


def _drop_secret_digests(manifest: dict[str, Any]) -> dict[str, Any]:
    """Earlier digests of typed secrets had one salt for all and told the length: they are not used any more."""
    return {name: value for name, value in manifest.items() if name != "secret_digests"}


STEPS["recording"][1] = _drop_secret_digests
STEPS["package"][2] = _drop_secret_digests


def version_of(content: Any, piece: str, where: str) -> int:
    """The version that the head of a file says it is of.

    The newest one where it says none, or one that there never was: the schema then tells what is wrong. Raises
    InputError for a version that is newer than this demotape.
    """
    newest = VERSIONS[PIECES[piece]]
    if not isinstance(content, dict) or content.get("format") != PIECES[piece]:
        return newest
    version = content.get("version")
    if type(version) is not int or version < 1:
        return newest
    require_known(version, piece, where)
    return version


def require_known(version: int, piece: str, where: str) -> None:
    """Raises InputError for a version that is newer than this demotape."""
    name = PIECES[piece]
    if version > VERSIONS[name]:
        raise InputError(f"{where}: field version: {version} is newer than this demotape supports ({name} up to "
                         f"version {VERSIONS[name]}); update demotape")


def upgrade(content: Any, piece: str, version: int, where: str) -> Any:
    """A piece of some version as this one reads it, yet to be checked; raises InputError when a step cannot make it."""
    newest = VERSIONS[PIECES[piece]]
    if version >= newest or not isinstance(content, dict):
        return content
    for number in range(version, newest):
        step = STEPS[piece].get(number)
        try:
            content = step(content) if step else content
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise InputError(f"{where}: not a {piece} of version {number} ({error!r})") from None
    return content | {"version": newest} if piece in HEADS else content
