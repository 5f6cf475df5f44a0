"""The site of the runs, and seeded plans of actions on it: steps of (action, id of the element, value)."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Step = tuple[str, str, str]
_WORDS = ("lamp", "Läden", "two words", "東京", "a&b <c>", '"quoted"', "naïve 🙂", "x" * 60)
_KEYS = ("Enter", "Escape", "ArrowDown", "Control+a")
FIELDS, LISTS, BOXES, BUTTONS = ("f1", "f2", "s1"), ("l1", "l2"), ("c1", "c2"), ("b1", "b2", "s2", "i1")
PAGES = {
    "/": """<!doctype html><html lang=en><title>Shop</title><body>
<label for=f1>Search</label><input id=f1> <textarea id=f2 aria-label="Note"></textarea>
<select id=l1><option value=1>One</option><option value=2>Two</option><option value=3>Three &amp; more</option></select>
<select id=l2 size=3><option>red</option><option>green</option><option>blue</option></select>
<label><input type=checkbox id=c1> Agree</label><input type=checkbox id=c2 aria-label="News">
<button id=b1>Go</button><button id=b2><b>Save</b></button><ul id=log></ul><x-card></x-card>
<iframe src="/frame" width=300 height=60></iframe>
<script>customElements.define("x-card", class extends HTMLElement { constructor() { super();
this.attachShadow({mode: "open"}).innerHTML = '<input id=s1 aria-label="Inside"><button id=s2>Inside</button>' } })
for (const b of document.querySelectorAll("button")) b.addEventListener("mousedown", () => {
  b.className = "pressed"; log.append(Object.assign(document.createElement("li"), {textContent: b.textContent})) })
</script>""",
    "/frame": "<!doctype html><button id=i1>In the frame</button>",
}


def plan(seed: int, length: int, *, keys: bool) -> list[Step]:
    """Steps in which every one has an effect that a recorder can see. `keys`: also keys on fields."""
    chance, steps = random.Random(seed), list[Step]()
    held = dict.fromkeys((*FIELDS, *LISTS, *BOXES), "")
    held["l1"] = "1"
    while len(steps) < length:
        kind = chance.choice(("fill", "select", "check", "click", *(["press"] if keys else [])))
        if kind == "fill":
            name, value = chance.choice(FIELDS), chance.choice(_WORDS)
        elif kind == "select":
            name = chance.choice(LISTS)
            value = chance.choice(("1", "2", "3") if name == "l1" else ("red", "green", "blue"))
        elif kind == "check":
            name = chance.choice(BOXES)
            value = "" if held[name] else "true"
        elif kind == "press":
            name, value = chance.choice(FIELDS), chance.choice(_KEYS)
        else:
            name, value = chance.choice(BUTTONS), ""
        is_same_field = bool(steps) and kind == "fill" and steps[-1][:2] == ("fill", name)
        if (kind in ("fill", "select") and held[name] == value) or is_same_field:
            continue
        if name in held and kind != "press":
            held[name] = value
        if kind == "press" and (value == "Enter" or name == "s1"):
            continue  # it would change a text
        steps.append((kind, name, value))
    return steps


@contextmanager
def served() -> Iterator[str]:
    """The site's address while it is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        content = PAGES.get(self.path, "").encode()
        self.send_response(200 if content else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass
