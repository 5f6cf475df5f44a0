// The connection of a room's page: opened again when it breaks. What is to be sent is kept until the server has stored
// it, and sent again after each break; the server knows each message by its id.
"use strict";

/** `hear(message)`: a message of the server; `show(picture)`: resolves when it is shown; `change(state)`: open, closed
 * (opened again soon) or refused, with the reason. */
function connectRoom(address, { hear, show, change }) {
  const FIRST_WAIT_MS = 300, LONGEST_WAIT_MS = 5000;
  const REFUSED = [1007, 1008]; // codes of a server that will not change its mind
  const unstored = new Map();
  let socket = null, wait = FIRST_WAIT_MS, ended = false;

  function open() {
    const url = new URL(address, location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      wait = FIRST_WAIT_MS;
      change("open");
      for (const message of unstored.values()) socket.send(JSON.stringify(message));
    });
    socket.addEventListener("message", async ({ data }) => {
      if (typeof data === "string") {
        const message = JSON.parse(data);
        if (message.type === "chat") unstored.delete(message.id);
        hear(message);
      } else {
        await show(data).catch(() => null); // a damaged picture must not stop the next one
        send({ type: "painted" });
      }
    });
    socket.addEventListener("close", ({ code, reason }) => {
      if (REFUSED.includes(code)) return change("refused", reason);
      if (ended) return;
      change("closed");
      setTimeout(open, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    });
  }

  /** Send now or not at all. */
  function send(message) {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  }

  /** Send until it is stored. */
  function sendSurely(message) {
    unstored.set(message.id, message);
    send(message);
  }

  open();
  return { send, sendSurely, end: () => { ended = true; } };
}
