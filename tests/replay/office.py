"""A site with all that makes a session hard to serve again: a login with tokens, pages that change after a POST, what
is random on the server and in the page, an API, a WebSocket and an EventSource. Over real HTTP."""

import asyncio
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import serve

LOGIN = """<!DOCTYPE html><title>Sign in</title><h1>Sign in</h1><form method=post action=/login>
<input type=hidden name=csrf_token value="{token}"><label>Name <input name=name></label>
<label>Password <input name=password type=password></label><button>Sign in</button></form>"""
ORDERS = """<!DOCTYPE html><title>Orders</title><h1>Orders</h1><p id=stamp>{stamp}</p><p id=lucky></p><p id=at></p>
<ul>{orders}</ul><form method=post action=/orders><input type=hidden name=csrf_token value="{token}">
<label>Lamp <input name=lamp></label><select name=size><option value=s>Small<option value=m>Middle<option value=l>Large
</select><button>Order</button></form>
<button id=count>Count</button><output></output><button id=ask>Ask</button><p id=answer></p><p id=news></p>
<a href=/logout>Sign out</a><script>
lucky.textContent = "Lucky number " + Math.floor(Math.random() * 1e6);
at.textContent = "It is " + new Date().toISOString().slice(0, 10);
count.onclick = async () => {{
  const told = await (await fetch("/api/count", {{ method: "POST", headers: {{ "Content-Type": "application/json" }},
    body: JSON.stringify({{ id: crypto.randomUUID(), at: Date.now() }}) }})).json();
  document.querySelector("output").textContent = "Counted " + told.count;
}};
const socket = new WebSocket("ws://" + location.hostname + ":{port}/talk");
socket.onmessage = ({{ data }}) => answer.textContent = data;
ask.onclick = () => socket.send("How many?");
new EventSource("/news").onmessage = ({{ data }}) => news.textContent = data;
</script>"""


class Office:
    """Serves on loopback until it is closed; `requests` counts what was asked for."""

    def __init__(self) -> None:
        self.requests = 0
        self.orders = ["Desk lamp"]
        self.counted = 0
        self.session, self.token = f"session-{secrets.token_hex(12)}", f"token-{secrets.token_hex(12)}"
        office = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                office._get(self)

            def do_POST(self):
                office._post(self, self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._talking = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._threads = [threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}),
                         threading.Thread(target=self._loop.run_until_complete, args=(self._talk(),))]
        for thread in self._threads:
            thread.start()
        self._talking.wait()
        self.origin = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._loop.call_soon_threadsafe(self._end.set)
        for thread in self._threads:
            thread.join()

    async def _talk(self) -> None:
        self._end = asyncio.Event()

        async def answer(connection) -> None:
            await connection.send("Hello")
            async for _ in connection:
                await connection.send(f"There are {len(self.orders)} orders")

        async with serve(answer, "127.0.0.1", 0) as server:
            self._port = server.sockets[0].getsockname()[1]
            self._talking.set()
            await self._end.wait()

    def _get(self, request: BaseHTTPRequestHandler) -> None:
        self.requests += 1
        path = urlsplit(request.path).path
        signed_in = self.session in request.headers.get("Cookie", "")
        if path == "/news":
            request.send_response(200)
            request.send_header("Content-Type", "text/event-stream")
            request.end_headers()
            for number in range(1, 4):
                request.wfile.write(f"data: News {number}\n\n".encode())
                request.wfile.flush()
                time.sleep(0.1)
            request.close_connection = True
        elif path == "/" and signed_in:
            orders = "".join(f"<li>{order}</li>" for order in self.orders)
            _send(request, ORDERS.format(stamp=secrets.token_hex(8), orders=orders, token=self.token, port=self._port))
        elif path == "/":
            _send(request, "", 302, {"Location": "/login"})
        elif path == "/login":
            _send(request, LOGIN.format(token=self.token))
        elif path == "/logout":
            _send(request, "", 302, {"Location": "/", "Set-Cookie": "sid=gone; Max-Age=0; Path=/"})
        else:
            _send(request, "not here", 404)

    def _post(self, request: BaseHTTPRequestHandler, body: str) -> None:
        self.requests += 1
        if request.path == "/api/count":
            self.counted += 1
            told = {"id": json.loads(body)["id"], "count": self.counted, "access_token": self.token}
            _send(request, json.dumps(told), kind="application/json")
            return
        fields = {name: values[0] for name, values in parse_qs(body).items()}
        if fields.get("csrf_token") != self.token:
            _send(request, "forbidden", 403)
        elif request.path == "/login":
            _send(request, "", 303, {"Location": "/", "Set-Cookie": f"sid={self.session}; Path=/; HttpOnly"})
        else:
            self.orders.append(f"{fields.get('lamp', '')} ({fields.get('size', '')})")
            _send(request, "", 303, {"Location": "/"})


def _send(request: BaseHTTPRequestHandler, text: str, status: int = 200, headers: dict[str, str] | None = None,
          kind: str = "text/html; charset=utf-8") -> None:
    request.send_response(status)
    for name, value in {"Content-Type": kind, "Content-Length": str(len(text.encode()))}.items():
        request.send_header(name, value)
    for name, value in (headers or {}).items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(text.encode())
