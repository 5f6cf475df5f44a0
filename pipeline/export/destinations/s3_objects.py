"""Objects under one prefix of an S3 bucket: listing, sending as one or in parts, reading. By botocore's client only.

Every body is held against the MD5 that the service answers as its ETag, and sent again when it was damaged on the way;
until a service has answered one, and when it is sent again, the MD5 goes with the body. A small object carries its
SHA-256 as metadata. Each part of a large object carries its CRC-32: where the service keeps it, it is enough, because
what the service has when all parts are together is held against it. A large object that was interrupted goes on with
the parts that it has.
"""

import re
import sqlite3
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from threading import Lock, Semaphore
from typing import IO, Any

from schemas import DemotapeError, InputError

from .s3_etags import MARK, PART, has_etag, is_encrypted, md5

PARTS_AT_ONCE = 8
CONNECTIONS = 20  # files and parts that are sent at once, and who renews the claim
ATTEMPTS = 6  # of a request, with pauses that grow
FIRST_PAUSE = 0.1  # seconds
Patience = tuple[float, float]  # seconds: until a connection is there, and until the next bytes come over it
PATIENCE: Patience = (10, 60)
_ADDRESS = re.compile(r"s3://(?P<bucket>[a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/(?P<prefix>.*))?", re.S)
_DAMAGED = ("BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch", "IncompleteBody")
_MISSING = ("NoSuchKey", "404", "NotFound")
_UNKNOWN = ("NotImplemented", "MethodNotAllowed", "AccessDenied", "NoSuchUpload")


@dataclass(frozen=True)
class StoredObject:
    """An object as it was found. `age`: seconds since it was written, by the service's clock."""

    content: bytes
    etag: str
    age: float


@dataclass(frozen=True)
class Address:
    """A bucket, and what the names of its objects begin with: empty, or ending in a slash."""

    bucket: str
    prefix: str


def parse_address(text: str) -> Address:
    """The parts of `s3://bucket/prefix`; raises InputError when it is none."""
    match = _ADDRESS.fullmatch(text)
    if not match:
        raise InputError(f"{text}: not an address of the form s3://bucket/prefix")
    prefix = (match["prefix"] or "").strip("/")
    return Address(match["bucket"], f"{prefix}/" if prefix else "")


@cache
def _loader(path: str | None):
    """Reads the descriptions of the service, large JSON files, once for all clients of the process."""
    from botocore.loaders import create_loader

    return create_loader(path)


def connect(endpoint_url: str | None, attempts: int, patience: Patience = PATIENCE):
    """A client that tries again with growing pauses when the service is busy or away."""
    from botocore.config import Config
    from botocore.session import Session

    # A session of its own: the default one keeps credentials for as long as the process lives. Not boto3's: each would
    # add a place to look in to the loader that they share.
    session = Session()
    session.register_component("data_loader", _loader(session.get_config_variable("data_path")))
    return session.create_client("s3", endpoint_url=endpoint_url, config=Config(
        retries={"mode": "standard", "max_attempts": attempts}, max_pool_connections=CONNECTIONS,
        connect_timeout=patience[0], read_timeout=patience[1], request_checksum_calculation="when_required",
        response_checksum_validation="when_required", signature_version="s3v4",  # also of links
        s3={"addressing_style": "path" if endpoint_url else "auto"}))


class Bucket:
    """The objects under a prefix; names are without it. The listing is kept on disk, as there may be millions.

    `attempts`: of each request, whether the service is busy or what it got was damaged; ATTEMPTS when not given.
    `patience`: how long one of them may take.
    Safe to use from several threads. Raises botocore's exceptions; see s3_errors.
    """

    def __init__(self, address: str, endpoint_url: str | None = None, attempts: int | None = None,
                 patience: Patience = PATIENCE):
        self.address = parse_address(address)
        self.attempts = ATTEMPTS if attempts is None else attempts
        self.client = connect(endpoint_url, self.attempts, patience)
        self.senders = ThreadPoolExecutor(PARTS_AT_ONCE, thread_name_prefix="s3-part")
        self.free = Semaphore(PARTS_AT_ONCE + 1)  # parts in memory, of all files together
        self._answers_md5 = False  # whether this bucket's ETags are MD5s: then nobody need hash a body twice
        self.keeps_crc32: bool | None = None  # whether parts need no MD5; unknown until one was sent
        self._lock = Lock()
        self._index = sqlite3.connect("", check_same_thread=False)
        self._index.execute("CREATE TABLE object (name TEXT PRIMARY KEY, size INTEGER, etag TEXT, seen INTEGER)")
        self.uploads: dict[str, str] = {}

    def stop_sending(self) -> None:
        """Wait for the parts that are on their way; none is sent from now on."""
        self.senders.shutdown(cancel_futures=True)

    def close(self) -> None:
        self.stop_sending()
        self._index.close()
        self.client.close()

    def load(self) -> None:
        """List what is there: objects, and uploads that were interrupted."""
        where = {"Bucket": self.address.bucket, "Prefix": self.address.prefix}
        for page in self.client.get_paginator("list_objects_v2").paginate(**where):
            self._index.executemany("INSERT OR REPLACE INTO object VALUES (?, ?, ?, 0)", (
                (self._name(entry["Key"]), entry["Size"], entry["ETag"].strip('"'))
                for entry in page.get("Contents", ())))
        with _where_it_is_known():
            for page in self.client.get_paginator("list_multipart_uploads").paginate(**where):
                for upload in page.get("Uploads") or ():
                    self.uploads[self._name(upload["Key"])] = upload["UploadId"]

    def names(self, *, unseen: bool = False) -> Iterator[str]:
        """Names of what was listed, in order; with `unseen` only of what no call of `is_there` asked for."""
        last, page_size = "", 0 if unseen else 1
        while True:
            with self._lock:
                rows = self._index.execute(
                    "SELECT name FROM object WHERE name > ? AND seen <= ? ORDER BY name LIMIT 999",
                    (last, page_size)).fetchall()
            if not rows:
                return
            yield from (name for name, in rows)
            last = rows[-1][0]

    def size(self, name: str) -> int | None:
        """Bytes of an object as it was listed; None when it was not there."""
        with self._lock:
            row = self._index.execute("SELECT size FROM object WHERE name = ?", (name,)).fetchone()
        return row and row[0]

    def is_there(self, name: str, raw: IO[bytes], size: int, sha256: str) -> bool:
        """Whether the object was listed with this very content, by its ETag, else by the SHA-256 that it carries."""
        with self._lock:
            row = self._index.execute("SELECT size, etag FROM object WHERE name = ?", (name,)).fetchone()
            self._index.execute("UPDATE object SET seen = 1 WHERE name = ?", (name,))
        if row is None or row[0] != size:
            return False
        if has_etag(raw, row[1]):
            return True
        return self._metadata(name).get("sha256") == sha256  # with a key service's encryption an ETag is no hash

    def see(self, name: str) -> None:
        """Note that an object stays as it is."""
        with self._lock:
            self._index.execute("UPDATE object SET seen = 1 WHERE name = ?", (name,))

    def is_copy(self, name: str, other: "Bucket") -> bool:
        """Whether the object was listed with the size and the ETag that another prefix has it with."""
        with self._lock, other._lock:
            rows = [index.execute("SELECT size, etag FROM object WHERE name = ?", (name,)).fetchone()
                    for index in (self._index, other._index)]
        return rows[0] is not None and rows[0] == rows[1]

    def copy(self, name: str, other: "Bucket") -> None:
        """Have the service copy an object, of at most 5 GiB, from another prefix."""
        source = {"Bucket": other.address.bucket, "Key": other.key(name)}
        self.client.copy_object(Bucket=self.address.bucket, Key=self.key(name), CopySource=source)

    def folders(self, folder: str = "") -> list[str]:
        """Names that stand between the prefix, or a folder's name, and the next slash."""
        before = f"{folder}/" if folder else ""
        where = {"Bucket": self.address.bucket, "Prefix": self.address.prefix + before, "Delimiter": "/"}
        return [self._name(entry["Prefix"]).removeprefix(before).rstrip("/")
                for page in self.client.get_paginator("list_objects_v2").paginate(**where)
                for entry in page.get("CommonPrefixes", ())]

    def exists(self, name: str) -> bool:
        """Whether the service has the object now; asks it, unlike `size`."""
        from botocore.exceptions import ClientError

        try:
            self.client.head_object(Bucket=self.address.bucket, Key=self.key(name))
        except ClientError as error:
            if error.response["Error"]["Code"] not in ("404", "NoSuchKey", "NotFound"):
                raise
            return False
        return True

    def is_ours(self, name: str) -> bool:
        """Whether an export put the object there."""
        return MARK in self._metadata(name)

    def put(self, name: str, content: bytes, sha256: str) -> None:
        """Make or replace a small object in one request."""
        self.until_intact(name, content, self.client.put_object,
                         {"Key": self.key(name), "Metadata": {MARK: "1", "sha256": sha256}})

    def put_if(self, name: str, content: bytes, etag: str | None) -> bool:
        """Make a small object unless there is one, or replace the one of that ETag; false when it is another.

        A service that knows no conditions does it in any case.
        """
        from botocore.exceptions import ClientError

        fields = {"Bucket": self.address.bucket, "Key": self.key(name), "Body": content, "Metadata": {MARK: "1"}}
        for condition in ({"IfNoneMatch": "*"} if etag is None else {"IfMatch": etag}, {}):
            try:
                self.client.put_object(**fields, **condition)
                return True
            except ClientError as error:
                if error.response["Error"]["Code"] in ("PreconditionFailed", "ConditionalRequestConflict"):
                    return False
                if not condition or error.response["Error"]["Code"] != "NotImplemented":
                    raise
        return True

    def fetch(self, name: str) -> "StoredObject | None":
        """A small object as it is now."""
        from botocore.exceptions import ClientError

        try:
            answer = self.client.get_object(Bucket=self.address.bucket, Key=self.key(name))
        except ClientError as error:
            if error.response["Error"]["Code"] in _MISSING:
                return None
            raise
        with closing(answer["Body"]) as body:
            content = body.read(PART)
        date = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
        now = parsedate_to_datetime(date) if date else datetime.now(UTC)
        return StoredObject(content, answer["ETag"], max(0.0, (now - answer["LastModified"]).total_seconds()))

    def etag_now(self, name: str) -> str | None:
        """The ETag of an object as it is now; None when there is none."""
        from botocore.exceptions import ClientError

        try:
            return self.client.head_object(Bucket=self.address.bucket, Key=self.key(name))["ETag"]
        except ClientError as error:
            if error.response["Error"]["Code"] in _MISSING:
                return None
            raise

    def delete(self, name: str) -> None:
        """Take an object away; nothing when it is not there."""
        self.client.delete_object(Bucket=self.address.bucket, Key=self.key(name))

    def abandon_uploads(self) -> None:
        """Take away the parts of interrupted uploads that nothing went on from."""
        for name, upload in self.uploads.items():
            with _where_it_is_known("NoSuchUpload"):
                self.client.abort_multipart_upload(Bucket=self.address.bucket, Key=self.key(name), UploadId=upload)

    def read(self, name: str) -> Iterator[bytes]:
        """An object's content in chunks."""
        with closing(self.client.get_object(Bucket=self.address.bucket, Key=self.key(name))["Body"]) as body:
            yield from body.iter_chunks(1 << 20)

    def list_pages(self, folder: str) -> Iterator[tuple[str, int, datetime]]:
        """Each object in a folder: its name, bytes, and when it was written; asks the service."""
        for page in self.client.get_paginator("list_objects_v2").paginate(
                Bucket=self.address.bucket, Prefix=self.key(f"{folder}/")):
            yield from ((self._name(entry["Key"]), entry["Size"], entry["LastModified"])
                        for entry in page.get("Contents", ()))

    def link(self, name: str, called: str, seconds: int) -> str:
        """A signed address of an object, for whoever has it; a browser saves it as `called`, a plain file name."""
        return self.client.generate_presigned_url("get_object", ExpiresIn=seconds, Params={
            "Bucket": self.address.bucket, "Key": self.key(name),
            "ResponseContentDisposition": f'attachment; filename="{called}"'})

    def parts_of(self, upload: str, key: dict[str, Any]) -> tuple[dict[int, tuple[int, str]], bool]:
        """Size and ETag of the parts that an interrupted upload has, by number; and whether they carry a CRC-32."""
        parts: dict[int, tuple[int, str]] = {}
        has_crc32 = False
        with _where_it_is_known():
            for page in self.client.get_paginator("list_parts").paginate(**key, UploadId=upload):
                has_crc32 = page.get("ChecksumAlgorithm") == "CRC32"
                for part in page.get("Parts", ()):
                    parts[part["PartNumber"]] = (part["Size"], part["ETag"].strip('"'))
        return parts, has_crc32

    def until_intact(self, name: str, content: bytes, request: Callable, fields: dict[str, Any], digest=None) -> str:
        """Send a body until what arrived is what was sent; returns its ETag. `digest`: its MD5, where it is known."""
        from botocore.exceptions import ClientError

        crc32 = fields.get("ChecksumCRC32")
        by_md5 = crc32 is None or not self.keeps_crc32
        digest = digest or (md5(content) if by_md5 else None)
        for attempt in range(self.attempts):
            if by_md5 and (attempt or not self._answers_md5):
                fields = fields | {"ContentMD5": b64encode(digest.digest()).decode()}
            try:
                made = request(Bucket=self.address.bucket, Body=content, **fields)
                keeps_crc32 = crc32 is not None and made.get("ChecksumCRC32") == crc32
                if keeps_crc32 and not by_md5:
                    return made["ETag"]
                is_md5 = by_md5 and made["ETag"].strip('"') == digest.hexdigest()
                if is_md5 or ("ContentMD5" in fields and is_encrypted(made)):
                    self._answers_md5 = is_md5
                    if crc32 is not None and self.keeps_crc32 is None:
                        self.keeps_crc32 = keeps_crc32
                    return made["ETag"]
            except ClientError as error:
                if error.response["Error"]["Code"] not in _DAMAGED:
                    raise
            time.sleep(FIRST_PAUSE * 2**attempt)
        raise DemotapeError(f"s3://{self.address.bucket}/{self.key(name)}: was damaged during transfer "
                            f"{self.attempts} times; check the network, then try again")

    def crc32_of(self, key: dict[str, Any]) -> str:
        """The CRC-32 of an object's parts' CRC-32s, as the service tells it; with or without `-` and their number."""
        return self.client.head_object(**key, ChecksumMode="ENABLED").get("ChecksumCRC32", "").partition("-")[0]

    def _metadata(self, name: str) -> dict[str, Any]:
        return self.client.head_object(Bucket=self.address.bucket, Key=self.key(name)).get("Metadata", {})

    def key(self, name: str) -> str:
        """The bucket's name of an object."""
        return self.address.prefix + name

    def _name(self, key: str) -> str:
        return key[len(self.address.prefix):]


@contextmanager
def _where_it_is_known(*also: str) -> Iterator[None]:
    """What only some services do and only some users may; without it more is sent again."""
    from botocore.exceptions import ClientError

    try:
        yield
    except ClientError as error:
        if error.response["Error"]["Code"] not in (*_UNKNOWN, *also):
            raise
