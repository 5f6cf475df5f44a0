"""The capture script as one source text, from the files that the extension loads separately."""

from functools import cache
from pathlib import Path
from secrets import token_hex

from .worlds import STACKS_EVENT

_FOLDER = Path(__file__).resolve().parents[2] / "extension" / "capture"
FILES = ("../shared.js", "frame_group.js", "dom_safe_access.js", "secrets.js", "elements.js", "fast_serialize.js",
         "style_sheets.js", "unseen_state.js", "markup.js", "snapshot_cache.js", "paint_tracking.js", "table.js",
         "closed_roots.js", "snapshot.js",
         "sending.js", "idle_snapshot.js", "gestures.js", "typing.js", "scrolling.js", "hovering.js", "values.js",
         "events.js", "../../recorder/browser/steering.js", "../../recorder/browser/first_listener_bridge.js",
         "../../recorder/browser/driven.js", "../../recorder/browser/driver_actions.js",
         "../../recorder/browser/history_moves.js", "../../recorder/browser/pointing.js")
BINDING = "demotapeSend"
_FIRST_LISTENER_EVENT = f"demotape-{token_hex(16)}"  # the event by which the listener in the page's world tells
REPORT = "globalThis.demotape?.idleSnapshot.sendReport()"  # has a frame report what it shows
FLUSH = "globalThis.demotape?.events.flush()"  # has a frame send what it would send soon
LAST_SNAPSHOT = f"{FLUSH}, globalThis.demotape?.idleSnapshot.sendSnapshot()"  # the same, even if it was reported before
ACTION_BEGINS = "globalThis.demotape?.driverActions.begin()"  # a driver announces an action
ACTION_ENDS = "globalThis.demotape?.driverActions.end()"
# As the first, and answers when a picture shows what was there then.
DRAWN = "globalThis.demotape && (demotape.idleSnapshot.sendReport(), demotape.paintTracking.drawn())"
_PART = 1 << 16  # characters of chunks in a message; more go ahead in parts, handed on while the next is being made
_START = f"""{{
  const send = (message) => globalThis.{BINDING}(JSON.stringify(message));
  const sendParts = (frame_group, chunks) => {{
    let part = [], size = 0;
    for (const chunk of chunks) {{
      part.push(chunk);
      if ((size += chunk[1].length) < {_PART}) continue;
      send({{ type: "ahead", frame_group, chunks: part, rows: [] }});
      part = [], size = 0;
    }}
    return part;
  }};
  const begin = () => demotape.events.start((message) => {{
    const {{ snapshot }} = message;
    if (snapshot) snapshot.chunks = sendParts(snapshot.frame_group, snapshot.chunks);
    send(message);
  }}, (field, value) => send({{ type: "secret", field, value }}),
  (frame_group, chunks, rows) => send({{ type: "ahead", frame_group, chunks: sendParts(frame_group, chunks), rows }}));
  demotape.framesHaveOffsets = true;
  demotape.sendActivity = (what) => send({{ type: "stir", what }});
  begin();
  const ended = new AbortController();
  demotape.historyMoves.start(send, ended.signal);
  addEventListener("pageshow", ({{ persisted, timeStamp }}) => {{
    if (!persisted) return;
    demotape.historyMoves.onRestored(send, timeStamp);
    demotape.events.stop(); // it comes back as it was left, to a recorder that has seen other pages since
    begin();
  }}, {{ signal: ended.signal }});
  demotape.end = () => {{
    ended.abort();
    demotape.events.stop();
    demotape.driven.end();
    demotape.recording = null;
  }};
}}"""

_KEYS = f'demotape.steering.start((command) => globalThis.{BINDING}(JSON.stringify({{ type: "command", command }})));'


def capture_script(recording: str, *, keys: bool = False) -> str:
    """Source for an isolated world that holds the binding. `keys`: those that steer the recording are heard, too.

    A second run for the same recording in the same document does nothing. One for another recording, as when a page is
    recorded that was recorded before, begins anew and sends all again; so does one in another document of the same
    window: a new tab's first page takes over the window of `about:blank`, but not the listeners in it.
    """
    return f"""if (!globalThis.demotape) {{
{_source()}
}}
if (demotape.recording !== "{recording}" || demotape.document !== document) {{
  if (demotape.recording) demotape.end();
  Object.assign(demotape, {{ recording: "{recording}", document }});
  {_KEYS if keys else ""}
  demotape.firstListener.start("{_FIRST_LISTENER_EVENT}");
  {_START}
}}"""


@cache
def first_listener() -> str:
    """Source for the page's own world, to run before the page's: see `first_listener.js`."""
    source = (Path(__file__).parent / "first_listener.js").read_text(encoding="utf-8")
    return source.replace('"NAME"', f'"{_FIRST_LISTENER_EVENT}"')


def ending_script(recording: str) -> str:
    """Source that ends what `capture_script` began, unless another recording has taken over."""
    return f'if (globalThis.demotape?.recording === "{recording}") demotape.end();'


@cache
def _source() -> str:
    source = "\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in FILES)
    return source.replace("STACKS_EVENT", STACKS_EVENT)
