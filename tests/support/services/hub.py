"""A server with the part of the Hugging Face Hub's API that a push needs: one data set repository, with large files."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SMALL = 2000  # bytes of files that come within the commit


@dataclass
class Hub:
    """What it holds: whether the repository is there and private, its files, all that was sent for it."""

    address: str = ""
    token: str = "hf_test"
    private: bool | None = None  # None: there is none yet
    files: dict[str, bytes] = field(default_factory=lambda: {".gitattributes": b"x"})
    stored: dict[str, bytes] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)

    def answer(self, path: str, body: bytes) -> tuple[int, object]:
        """Status and JSON of the answer."""
        path = path.partition("?")[0]
        if path == "/api/repos/create":
            asked = json.loads(body)
            if self.private is not None:
                return 409, {"url": f"{self.address}/datasets/o/n", "error": "You already created this dataset repo"}
            self.private = asked.get("private", asked.get("visibility") == "private")
            return 200, {"url": f"{self.address}/datasets/o/n"}
        if path == "/api/datasets/o/n":
            return 200, {"id": "o/n", "private": self.private, "sha": "b" * 40, "siblings": []}
        if "/tree/" in path:
            return 200, [{"type": "file", "path": name, "size": len(content), "oid": "c" * 40}
                         for name, content in self.files.items()]
        if "/preupload/" in path:
            return 200, {"files": [{"path": file["path"], "shouldIgnore": False,
                                    "uploadMode": "regular" if file["size"] < SMALL else "lfs"}
                                   for file in json.loads(body)["files"]]}
        if path.endswith("/info/lfs/objects/batch"):
            return 200, {"transfer": "basic", "objects": [self._large(each) for each in json.loads(body)["objects"]]}
        if path.startswith("/put/"):
            self.stored[path.removeprefix("/put/")] = body
            return 200, {}
        if "/commit/" in path:
            self._commit([json.loads(line) for line in body.splitlines()])
            return 200, {"commitOid": "a" * 40, "commitUrl": f"{self.address}/datasets/o/n/commit/{'a' * 40}"}
        return (200, {"errors": [], "warnings": []}) if "validate-yaml" in path else (404, {"error": "not here"})

    def _large(self, each: dict) -> dict:
        known = each["oid"] in self.stored
        return each if known else each | {"actions": {"upload": {"href": f"{self.address}/put/{each['oid']}",
                                                                 "header": {}}}}

    def _commit(self, operations: list[dict]) -> None:
        for operation in operations:
            key, value = operation["key"], operation["value"]
            if key == "header":
                self.commits.append(value["summary"])
            elif key == "deletedFile":
                del self.files[value["path"]]
            elif key == "file":
                self.files[value["path"]] = base64.b64decode(value["content"])
            else:
                content = self.stored[value["oid"]]
                assert hashlib.sha256(content).hexdigest() == value["oid"]
                self.files[value["path"]] = content


@contextmanager
def running() -> Iterator[Hub]:
    """The server; who comes without its token is refused."""
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do(self):
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            known = self.headers.get("authorization") == f"Bearer {hub.token}" or self.path.startswith("/put/")
            status, told = hub.answer(self.path, body) if known else (401, {"error": "Invalid username or password."})
            content = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
