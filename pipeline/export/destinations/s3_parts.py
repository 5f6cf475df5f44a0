"""An object of an S3 bucket in parts: sent in parallel, and verified against the sent data."""

import zlib
from base64 import b64encode
from concurrent.futures import Future
from typing import IO, Any, NamedTuple

from schemas import DemotapeError

from .s3_etags import MARK, PART, etag_of_parts, has_etag, is_encrypted, md5, part_size, pieces
from .s3_objects import PARTS_AT_ONCE, Bucket


class _Sent(NamedTuple):
    """A part that the service has. `md5`: where it was needed."""

    etag: str
    crc32: bytes
    md5: object | None


class Parts:
    """An object that is sent in parts, several at once; those that an interrupted upload has are not sent again."""

    def __init__(self, bucket: Bucket, name: str):
        self._bucket, self._name = bucket, name
        self._key = {"Bucket": bucket.address.bucket, "Key": bucket.key(name)}
        upload = bucket.uploads.get(name)
        self._there, self._has_crc32 = bucket.parts_of(upload, self._key) if upload else ({}, True)
        self._upload = upload or bucket.client.create_multipart_upload(
            **self._key, Metadata={MARK: "1"}, ChecksumAlgorithm="CRC32")["UploadId"]
        bucket.uploads[name] = self._upload
        self._sent: list[Future[_Sent]] = []

    def add(self, content: bytes) -> None:
        """The next part; waits while too many are on their way, and raises what an earlier one met."""
        if len(self._sent) > PARTS_AT_ONCE:
            self._sent[-PARTS_AT_ONCE - 1].result()
        self._bucket.free.acquire()
        try:
            self._sent.append(self._bucket.senders.submit(self._send, len(self._sent) + 1, content))
        except BaseException:
            self._bucket.free.release()
            raise

    @property
    def needs_no_copy(self) -> bool:
        """Whether the service keeps the CRC-32 of each part, so that the content need not be hashed once more."""
        return bool(self._has_crc32 and self._bucket.keeps_crc32)

    @property
    def next_size(self) -> int:
        """Bytes of the next part, unless it is the last."""
        return part_size(len(self._sent))

    def end(self, raw: IO[bytes] | None) -> None:
        """All parts are there: show the object. `raw`: its content, should the service tell the hash of the whole."""
        sent = [part.result() for part in self._sent]
        parts = [{"PartNumber": number, "ETag": part.etag} | self._crc32_field(part.crc32)
                 for number, part in enumerate(sent, 1)]
        made = self._bucket.client.complete_multipart_upload(
            **self._key, UploadId=self._upload, MultipartUpload={"Parts": parts})
        self._bucket.uploads.pop(self._name, None)
        if not self._is_intact(sent, made) and not (raw and has_etag(raw, made["ETag"].strip('"'))):
            raise DemotapeError(f"s3://{self._key['Bucket']}/{self._key['Key']}: the parts in the S3 service differ "
                                "from those sent; check the network, then try again")

    def _is_intact(self, sent: list[_Sent], made: dict[str, Any]) -> bool:
        if all(part.md5 for part in sent):
            return is_encrypted(made) or made["ETag"].strip('"') == etag_of_parts([part.md5 for part in sent])
        checksum = zlib.crc32(b"".join(part.crc32 for part in sent)).to_bytes(4)
        return self._bucket.crc32_of(self._key) == b64encode(checksum).decode()

    def _send(self, number: int, content: bytes) -> _Sent:
        try:
            crc32 = zlib.crc32(content).to_bytes(4)
            digest = None
            if there := self._there.get(number):
                digest = md5(content)
                if there == (len(content), digest.hexdigest()):
                    return _Sent(f'"{digest.hexdigest()}"', crc32, digest)
            elif not self._bucket.keeps_crc32:
                digest = md5(content)
            fields = {"Key": self._key["Key"], "UploadId": self._upload, "PartNumber": number}
            if self._has_crc32:
                fields |= {"ChecksumAlgorithm": "CRC32"} | self._crc32_field(crc32)
            etag = self._bucket.until_intact(self._name, content, self._bucket.client.upload_part, fields, digest)
            return _Sent(etag, crc32, digest)
        finally:
            self._bucket.free.release()

    def _crc32_field(self, crc32: bytes) -> dict[str, str]:
        return {"ChecksumCRC32": b64encode(crc32).decode()} if self._has_crc32 else {}


def send(bucket: Bucket, name: str, raw: IO[bytes], size: int, sha256: str) -> None:
    """Make or replace an object: in one request, or in parts when it is large."""
    raw.seek(0)
    if size <= PART:
        bucket.put(name, raw.read(), sha256)
        return
    parts = Parts(bucket, name)
    for part in pieces(raw):
        parts.add(part)
    parts.end(raw)
