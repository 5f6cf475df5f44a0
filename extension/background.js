// The service worker: forwards browser events to the offscreen document, and calls the APIs that only a service worker
// may use. Chrome may stop it at any moment, so it remembers nothing, and whatever it is asked for can be asked for
// twice.
import { readMhtml } from "./mhtml.js";
import { sleep } from "./sleep.js";
import { ACTIVE_PHASES, isActiveSign, signOf } from "./status.js";

const CAPTURE = ["frame_group", "dom_safe_access", "secrets", "elements", "fast_serialize", "style_sheets", "unseen_state", "markup", "snapshot_cache", "paint_tracking", "table", "closed_roots", "snapshot", "sending", "idle_snapshot", "gestures", "typing", "scrolling", "hovering", "values", "events"];
const FILES = ["shared.js", ...CAPTURE.map((name) => `capture/${name}.js`), "content.js"];
const SCRIPT = "capture";
const MAX_ATTEMPTS = 5;
const INJECTING = 10_000; // ms that the frames of a tab have to take the scripts; a page that hangs never does
const RED = "#b3261e";
const SILENCE_TIMEOUT_MS = 3000; // without a report of the offscreen document, which sends one a second

const wall = () => (performance.timeOrigin + performance.now()) / 1000;

// Ears.

/** What was told and not yet heard. */
const telling = new Set();

/** Tell the offscreen document what the browser reports; nobody listens while nothing is recorded. */
function notify(kind, news) {
  const sent = chrome.runtime.sendMessage({ to: "offscreen", news: { kind, at: wall(), ...news } }).catch(recoverLost)
    .finally(() => telling.delete(sent));
  telling.add(sent);
}

/**
 * If the offscreen document has ended while it recorded, say so on the toolbar, remove the scripts, and open another one,
 * which recovers what is on disk.
 */
async function recoverLost() {
  if (!isActiveSign(await chrome.action.getBadgeText({})) || (await chrome.offscreen.hasDocument())) return;
  await showSign("interrupted");
  await TASKS.unregister();
  await TASKS.offscreen();
}

let shownPhase = null; // on the toolbar, as far as this service worker knows
let signing = Promise.resolve();

/** Show the sign of a phase on the toolbar, after the ones before. */
function showSign(phase) {
  if (phase === shownPhase) return signing;
  shownPhase = phase;
  const { text, title } = signOf(phase);
  return (signing = signing.then(async () => {
    await chrome.action.setBadgeText({ text });
    await chrome.action.setBadgeBackgroundColor({ color: RED });
    await chrome.action.setBadgeTextColor({ color: "#ffffff" });
    await chrome.action.setTitle({ title });
  }));
}

let statusPort = null; // to the offscreen document
/**
 * Connect to the offscreen document, which then reports the phase of the recording each second; its end is known at once.
 * It is this side that connects: a listener here would keep the ports of pages open when the offscreen document ends.
 */
function watchStatus() {
  if (statusPort) return;
  const port = (statusPort = chrome.runtime.connect({ name: "status" }));
  let timer = 0;
  port.onMessage.addListener(({ phase }) => {
    clearTimeout(timer);
    if (ACTIVE_PHASES.has(phase)) timer = setTimeout(() => showSign("silent"), SILENCE_TIMEOUT_MS);
    showSign(phase);
  });
  port.onDisconnect.addListener(() => {
    void chrome.runtime.lastError;
    clearTimeout(timer);
    if (statusPort === port) statusPort = null;
    recoverLost();
  });
}

let shownChanges = 0; // how often another tab was shown somewhere, or a tab was moved

/** @param {chrome.tabs.Tab & { openerTabId?: number }} tab */
const factsOf = ({ id, windowId, openerTabId = null, active, url = "", pendingUrl = "" }) =>
  ({ chromeTab: id, window: windowId, opener: openerTabId, active, url: url || pendingUrl });

chrome.tabs.onCreated.addListener((tab) => {
  shownChanges++;
  notify("created", factsOf(tab));
});
chrome.tabs.onRemoved.addListener((chromeTab) => notify("removed", { chromeTab }));
chrome.tabs.onReplaced.addListener((added, removed) => {
  shownChanges++;
  notify("replaced", { chromeTab: added, removed });
});
chrome.tabs.onActivated.addListener(({ tabId, windowId }) => {
  shownChanges++;
  notify("shown", { chromeTab: tabId, window: windowId });
});
chrome.tabs.onDetached.addListener(() => void shownChanges++);
chrome.tabs.onAttached.addListener(async (chromeTab, { newWindowId: window }) => {
  shownChanges++;
  const others = (await chrome.tabs.query({ windowId: window })).map(({ id }) => id);
  notify("attached", { chromeTab, window, others });
});
chrome.tabs.onZoomChange.addListener(({ tabId, newZoomFactor }) => notify("zoom", { chromeTab: tabId, zoom: newZoomFactor }));
chrome.windows.onFocusChanged.addListener(async (window) => {
  if (window === chrome.windows.WINDOW_ID_NONE) return;
  const [tab] = await chrome.tabs.query({ windowId: window, active: true });
  if (tab) notify("shown", { chromeTab: tab.id, window });
});

const isTop = ({ frameId, documentLifecycle }) => frameId === 0 && documentLifecycle !== "prerender";
const seconds = (milliseconds) => milliseconds / 1000;

chrome.webNavigation.onBeforeNavigate.addListener((details) => {
  if (isTop(details)) notify("navigating", { chromeTab: details.tabId, url: details.url, started: seconds(details.timeStamp) });
});
chrome.webNavigation.onErrorOccurred.addListener((details) => {
  if (isTop(details)) notify("failed", { chromeTab: details.tabId, url: details.url });
});
function notifyNavigated(details, sameDocument) {
  if (!isTop(details)) return;
  notify("navigated", {
    chromeTab: details.tabId, url: details.url, committed: seconds(details.timeStamp), document: details.documentId,
    transition: details.transitionType, qualifiers: details.transitionQualifiers, sameDocument,
  });
}
chrome.webNavigation.onCommitted.addListener((details) => notifyNavigated(details, false));
chrome.webNavigation.onHistoryStateUpdated.addListener((details) => notifyNavigated(details, true));
chrome.webNavigation.onReferenceFragmentUpdated.addListener((details) => notifyNavigated(details, true));

/** The click on the toolbar: opens the panel, and lets Chrome give us the stream of this tab. */
chrome.action.onClicked.addListener((tab) => {
  chrome.sidePanel.open({ windowId: tab.windowId });
  notify("invoked", factsOf(tab));
});

/** Keys that the person chose, wherever they are (chrome://extensions/shortcuts); pages do not get them. Like a click on the toolbar they permit the stream. */
chrome.commands.onCommand.addListener((command, tab) => {
  if (tab) notify("invoked", factsOf(tab));
  notify("command", { command });
});

/** What was being sent when the browser was closed is sent on. */
chrome.runtime.onStartup.addListener(() => TASKS.offscreen());

// Tasks: what the offscreen document and the panel cannot do themselves. Each may be done twice.

const TASKS = {
  /** Have the offscreen document ready. */
  offscreen: () => (openingOffscreen ??= openOffscreen().finally(() => (openingOffscreen = null))),

  async closeOffscreen() {
    await chrome.offscreen.closeDocument();
  },

  version: async () => chrome.runtime.getManifest().version,

  /** Answers when the offscreen document has heard all that the browser had to report: messages of several channels keep no order. */
  async settle() {
    await chrome.tabs.query({}); // what the browser reported before it answers this has arrived here
    await Promise.all(telling);
  },

  /** Be loaded into every page from now on. */
  async register() {
    await TASKS.unregister();
    await chrome.scripting.registerContentScripts([{
      id: SCRIPT, js: FILES, matches: ["<all_urls>"], allFrames: true, matchOriginAsFallback: true,
      runAt: "document_start", persistAcrossSessions: false,
    }]);
  },

  async unregister() {
    if ((await chrome.scripting.getRegisteredContentScripts({ ids: [SCRIPT] })).length) {
      await chrome.scripting.unregisterContentScripts({ ids: [SCRIPT] });
    }
  },

  /** Be loaded into the documents that a tab shows already, the outer frames first: inner ones look for them. */
  async inject({ chromeTab }) {
    const late = sleep(INJECTING);
    for (const frames of byDepth(await chrome.webNavigation.getAllFrames({ tabId: chromeTab }))) {
      const done = frames.map((frame) => injectInto({ tabId: chromeTab, frameIds: [frame] }));
      await Promise.race([Promise.all(done), late]);
    }
  },

  /** The tab that the person sees in a window. */
  async shown({ window }) {
    const [tab] = await chrome.tabs.query({ windowId: window, active: true });
    const frame = await chrome.webNavigation.getFrame({ tabId: tab.id, frameId: 0 }).catch(() => null);
    return { ...factsOf(tab), url: tab.url || frame?.url || "", zoom: await chrome.tabs.getZoom(tab.id) };
  },

  stream: ({ chromeTab }) => chrome.tabCapture.getMediaStreamId({ targetTabId: chromeTab }),

  /** A picture of a tab as a data URL. Fails unless the tab was shown in its window all the time that the picture took. */
  async still({ chromeTab }) {
    const before = await chrome.tabs.get(chromeTab), changes = shownChanges;
    if (!before.active) throw new Error("The tab is not shown.");
    const picture = await chrome.tabs.captureVisibleTab(before.windowId, { format: "png" });
    const after = await chrome.tabs.get(chromeTab); // what happened until this answer has been reported
    const isSame = after.active && after.windowId === before.windowId && changes === shownChanges;
    if (!isSame) throw new Error("Another tab may have been shown.");
    return picture;
  },

  /** Style sheets, images and fonts that a tab has loaded, without loading anything again. */
  async resources({ chromeTab }) {
    for (let attempt = 1; ; attempt++) {
      const page = await chrome.pageCapture.saveAsMHTML({ tabId: chromeTab });
      try {
        return readMhtml(await page.text());
      } catch (error) {
        if (attempt === MAX_ATTEMPTS) throw error; // Chrome may take its temporary file away before it is read
      }
    }
  },

  /** The sign of a phase on the toolbar. */
  sign: ({ phase }) => showSign(phase),

  /** Receive the phase from now on, and find out when the offscreen document ends. */
  watch: async () => watchStatus(),
};

let openingOffscreen = null; // there can be only one, also when two ask for it at once
async function openOffscreen() {
  if (await chrome.offscreen.hasDocument()) return;
  await chrome.offscreen.createDocument({
    url: "offscreen/offscreen.html", reasons: ["USER_MEDIA", "BLOBS"],
    justification: "Keeps what is recorded, with the tab's pictures, while the service worker comes and goes.",
  });
}

/** Frame numbers by how deep they lie, the top document's first. */
function byDepth(frames) {
  const parents = new Map(frames.map(({ frameId, parentFrameId }) => [frameId, parentFrameId]));
  const levels = [];
  for (const { frameId } of frames) {
    let depth = 0;
    for (let at = parents.get(frameId); at >= 0; at = parents.get(at) ?? -1) depth++;
    (levels[depth] ??= []).push(frameId);
  }
  return levels.filter(Boolean);
}

/** Wake the script in a frame, or load it there; frames of pages that belong to Chrome itself refuse. */
async function injectInto(target) {
  try {
    const [woken] = await chrome.scripting.executeScript({ target, func: () => globalThis.demotapeBridge?.wake() ?? false });
    if (!woken?.result) await chrome.scripting.executeScript({ target, files: FILES, injectImmediately: true });
  } catch {
    // Nothing of such a frame can be recorded; what is seen of it is in the picture.
  }
}

chrome.runtime.onMessage.addListener((message, sender, answer) => {
  if (message.to !== "background" || !message.task || (sender.tab && sender.origin !== location.origin)) return undefined;
  Promise.resolve(TASKS[message.task](message)).then((value) => answer({ value }), (error) => answer({ error: error.message }));
  return true;
});

recoverLost(); // the service worker may have ended together with the offscreen document
