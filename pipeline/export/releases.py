"""Releases of a data set: exports with names in one destination, each with the name of the previous one. None is
replaced."""

import re
from pathlib import Path

from schemas import InputError

from .manifest import MANIFEST, Manifest, parse_manifest, read_manifest

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class NoExport(InputError):
    """There is no export at a place."""


def read_export(location: Path | str, endpoint_url: str | None = None) -> Manifest:
    """The manifest of an export, in a folder or at `s3://bucket/prefix`; raises NoExport when there is none, InputError
    when it is damaged."""
    if not str(location).startswith("s3:"):
        if not (Path(location) / MANIFEST).exists():
            raise NoExport(f"{Path(location) / MANIFEST}: missing; there is no export, or it is incomplete")
        return read_manifest(Path(location))
    from .destinations.s3_errors import explain_errors  # here, as botocore is slow to import
    from .destinations.s3_objects import Bucket

    with explain_errors(str(location)):
        bucket = Bucket(str(location), endpoint_url)
        try:
            if not bucket.exists(MANIFEST):
                raise NoExport(f"{location}/{MANIFEST}: missing; there is no export, or it is incomplete")
            return parse_manifest(b"".join(bucket.read(MANIFEST)), f"{location}/{MANIFEST}")
        finally:
            bucket.close()


def release_location(root: Path | str, name: str) -> str:
    """Where a release is; raises InputError when the name cannot be one of a folder everywhere."""
    if not _NAME.fullmatch(name):
        raise InputError(f"--release {name}: must have at most 64 letters, digits, dots, hyphens and underscores, "
                         "and begin with a letter or digit")
    return f"{str(root).rstrip('/')}/{name}"


def previous_release(root: Path | str, name: str, endpoint_url: str | None = None) -> str:
    """The release that a new one follows, empty when it is the first; raises InputError when the name is taken, or when
    several are followed by none."""
    location = release_location(root, name)
    manifests = {release: _read_release(release_location(root, release), endpoint_url)
                 for release in _release_names(root, endpoint_url)}
    if manifests.get(name):
        raise InputError(f"{location}: this release already exists, and releases are never replaced; choose another "
                         "name")
    releases = {release: manifest for release, manifest in manifests.items() if manifest}
    last = releases.keys() - {manifest.get("previous") for manifest in releases.values()}
    if len(last) > 1:
        raise InputError(f"{root}: several releases have no successor: {', '.join(sorted(last))}; move all but one "
                         "away")
    return next(iter(last), "")


def _read_release(location: str, endpoint_url: str | None) -> Manifest | None:
    try:
        manifest = read_export(location, endpoint_url)
    except InputError:  # also a damaged one is no release that another may follow
        return None
    return manifest if "release" in manifest else None


def _release_names(root: Path | str, endpoint_url: str | None) -> list[str]:
    if not str(root).startswith("s3:"):
        folders = Path(root).iterdir() if Path(root).is_dir() else ()
        return [path.name for path in folders if path.is_dir() and _NAME.fullmatch(path.name)]
    from .destinations.s3_errors import explain_errors
    from .destinations.s3_objects import Bucket

    with explain_errors(str(root)):
        bucket = Bucket(f"{str(root).rstrip('/')}/", endpoint_url)
        try:
            return [name for name in bucket.folders() if _NAME.fullmatch(name)]
        finally:
            bucket.close()
