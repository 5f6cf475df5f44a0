// The bridge from a frame to the offscreen document: sends numbered messages of the capture script until they are
// acknowledged as stored.
//
// Runs after the files of capture/ in the same isolated world, only while something is recorded. It hears first and
// asks afterwards, so that nothing done in a new page's first moments is missed; the offscreen document tells frames that are not
// part of the recording to be still.
"use strict";

var demotapeBridge = (function () {
  const RESOURCES = new Set(["css", "img", "image", "input", "link"]);
  const RESOURCES_IDLE_MS = 100; // ms without a new style sheet, picture or font before the offscreen document is told
  const VIEWERS = new Set(["application/pdf"]); // types of documents that Chrome shows by an extension of its own
  const BLANK_MS = 1000; // ms after its load until a page without a first paint shows that it is blank
  const ON_SCREEN_MS = 30; // ms from the third frame of a page until it is on the screen
  const session = Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join("");
  const wall = () => performance.timeOrigin + performance.now();
  let begun = wall(); // when this document began to be shown, as far as it is known here
  /** @type {any} */
  let port = null;
  let numbered = 0, running = false, cancelResources = null;
  let unacknowledged = [];
  let restored = false; // from the cache of pages left behind: its first paint was another time
  let painted = null; // when this document was first on the screen; ms since 1970

  /** Take what the capture script tells. */
  function send(message) {
    if (message.type === "closedRootCandidates") return openClosedRoots();
    post({ number: ++numbered, sent: wall(), text: JSON.stringify(message) });
  }

  /** What a secret field holds: the offscreen document keeps it in memory only, to find it wherever else it turns up. */
  function sendSecret(field, value) {
    post({ number: ++numbered, secret: { field, value } });
  }

  function post(message) {
    unacknowledged.push(message);
    try {
      if (port) return port.postMessage(message);
    } catch {
      port = null; // it was cut, and nobody said so yet
    }
    try {
      connect();
    } catch {
      end(); // the extension was taken away or renewed: this copy of it has nobody to tell
    }
  }

  function connect() {
    /** @type {any} */
    const opened = (port = chrome.runtime.connect({ name: `capture:${session}:${begun}` }));
    opened.onMessage.addListener(obey);
    opened.onDisconnect.addListener(() => {
      void chrome.runtime.lastError; // nobody listens: said by `opened` having had no word from the offscreen document
      if (port !== opened) return;
      port = null;
      if (!opened.heard) return end();
      try { // the offscreen document may have ended: whatever wakes the service worker makes it find out
        chrome.runtime.sendMessage({ to: "background", lost: true }).catch(() => {});
      } catch {
        end(); // the extension was removed or updated
      }
    });
    for (const message of unacknowledged) opened.postMessage(message);
    reportDisplay();
  }

  /** Report that this document is the one that its tab shows, and whether its content is a viewer's, which no script reads. */
  function reportDisplay() {
    if (window !== window.top) return;
    port?.postMessage({ display: { viewer: VIEWERS.has(document.contentType), painted, sent: wall() } });
  }

  /** Find out when this document was first on the screen: what was painted before may show the page before it. */
  function awaitPaint() {
    if (window !== window.top) return;
    const report = (time) => {
      if (painted !== null) return;
      painted = time;
      reportDisplay();
    };
    new PerformanceObserver((list) => {
      const [first] = list.getEntries();
      if (!restored) report(performance.timeOrigin + first.startTime);
    }).observe({ type: "paint", buffered: true });
    const later = () => demotape.later(() => afterPaints(() => report(wall())), restored ? 0 : BLANK_MS);
    if (document.readyState === "complete") later();
    else addEventListener("load", later, { once: true });
  }

  /** Call `work` when the page has painted: a change is begun in the first frame, handed over by the second, drawn by the third. */
  function afterPaints(work, count = 3) {
    if (count) requestAnimationFrame(() => afterPaints(work, count - 1));
    else demotape.later(work, ON_SCREEN_MS);
  }

  /** What the offscreen document says: how far it has put things away, or whether this frame is recorded. */
  function obey(order) {
    port.heard = true;
    if (order.acknowledged) unacknowledged = unacknowledged.filter(({ number }) => number > order.acknowledged);
    if (order.tell) tell(order.tell);
    if (order.late) demotape.paintTracking.late();
    if (order.record === "on") begin();
    if (order.record === "wait") pause();
    if (order.record === "off") end();
  }

  /** Tell where secrets stand now; the answer comes after that. */
  function tell(asked) {
    if (running) demotape.events.flush();
    if (running) demotape.idleSnapshot.sendReport();
    port?.postMessage({ told: asked });
  }

  function begin() {
    if (running) return;
    running = true;
    demotape.events.start(send, sendSecret);
    resources.observe({ type: "resource", buffered: true });
  }

  /** Hear nothing, but stay within reach of the offscreen document. */
  function pause() {
    if (!running) return;
    running = false;
    demotape.events.stop();
    resources.disconnect();
    cancelResources?.();
    try {
      port?.postMessage({ resting: true });
    } catch {
      port = null;
    }
  }

  function end() {
    pause();
    unacknowledged = [];
    const open = port;
    port = null;
    open?.disconnect();
  }

  const resources = new PerformanceObserver((list) => {
    const entries = /** @type {PerformanceResourceTiming[]} */ (list.getEntries());
    if (!entries.some(({ initiatorType }) => RESOURCES.has(initiatorType))) return;
    cancelResources?.();
    cancelResources = demotape.later(() => port?.postMessage({ resources: true }), RESOURCES_IDLE_MS);
  });

  function openClosedRoots() {
    for (const element of demotape.closedRoots.takeCandidates()) {
      const root = element instanceof HTMLElement && chrome.dom.openOrClosedShadowRoot(element);
      if (root && root.mode === "closed") demotape.closedRoots.adopt(root);
    }
  }

  // A page that comes back from the cache of pages left behind has lost its port, and the offscreen document what it knew of it.
  addEventListener("pageshow", (event) => {
    if (!event.persisted || !running) return;
    port = null;
    begun = wall();
    restored = true;
    painted = null;
    pause();
    wake();
    awaitPaint();
  });

  /** Begin, or begin again in a document of an earlier recording. */
  function wake() {
    if (!port) connect();
    begin();
    return true;
  }

  awaitPaint();
  return { wake };
})();

demotapeBridge.wake();
