"""Verifying an export under `s3://bucket/prefix`: every object is read and compared with the manifest."""

import hashlib
from collections.abc import Iterator

from pipeline.export.manifest import MANIFEST, parse_manifest, wrong_totals
from schemas import InputError

from .s3_claim import MARKER
from .s3_errors import explain_errors
from .s3_objects import Bucket


def verify_s3(address: str, endpoint_url: str | None = None) -> Iterator[str]:
    """Problems, one line each; raises InputError when there is no export."""
    address = address.rstrip("/")
    with explain_errors(address, again="run the check again"):
        bucket = Bucket(address, endpoint_url)
        try:
            bucket.load()
            yield from _problems(bucket, address)
        finally:
            bucket.close()


def _problems(bucket: Bucket, address: str) -> Iterator[str]:
    if bucket.size(MANIFEST) is None:
        if bucket.size(MARKER) is None:
            raise InputError(f"{address}: no export found")
        yield f"{address}: an export was interrupted here; run it again to complete it"
        return
    where = f"{address}/{MANIFEST}"
    try:
        manifest = parse_manifest(b"".join(bucket.read(MANIFEST)), where)
    except InputError as error:
        yield str(error)
        return
    for entry in manifest["files"]:
        size = bucket.size(entry["path"])
        if size is None:
            yield f"{address}/{entry['path']}: missing"
        elif size != entry["size"]:
            yield f"{address}/{entry['path']}: {size} bytes instead of {entry['size']}"
        elif _sha256(bucket, entry["path"]) != entry["sha256"]:
            yield f"{address}/{entry['path']}: damaged, its SHA-256 is not the manifest's"
    known = {entry["path"] for entry in manifest["files"]} | {MANIFEST}
    for name in bucket.names():
        if name not in known:
            yield f"{address}/{name}: not part of the export"
    yield from wrong_totals(manifest, where)


def _sha256(bucket: Bucket, name: str) -> str:
    digest = hashlib.sha256()
    for chunk in bucket.read(name):
        digest.update(chunk)
    return digest.hexdigest()
