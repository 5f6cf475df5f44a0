"""A test web site, over real HTTP: pages from a dictionary, on any number of origins."""

import ssl
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """Serves `pages` (path -> HTML text, or (content type, bytes)); change the dictionary at any time.

    `origin` and `other_origin` are two origins of the same pages. `tls`: the certificate with which it serves https.
    """

    def __init__(self, pages: Mapping[str, str | tuple[str, bytes]] | None = None, tls: ssl.SSLContext | None = None):
        self.pages = dict(pages or {})
        self.headers: dict[str, str] = {}
        self.posted: list[bytes] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                site._answer(self)

            def do_POST(self):
                site.posted.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
                site._answer(self)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        scheme = "https" if tls else "http"
        self.origin = f"{scheme}://127.0.0.1:{self._server.server_port}"
        self.other_origin = f"{scheme}://localhost:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        path = request.path.partition("?")[0]
        page = self.pages.get(path)
        if callable(page):
            page = page(request)
        kind, body = page if isinstance(page, tuple) else ("text/html; charset=utf-8", (page or "").encode())
        request.send_response(404 if page is None else 200)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(body)))
        for name, value in self.headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)
