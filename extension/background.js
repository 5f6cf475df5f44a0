// The service worker: forwards browser events to the offscreen document, and calls the APIs that only a service worker
// may use. Chrome may stop it at any moment, so it remembers nothing, and whatever it is asked for can be asked for
// twice.
import { readMhtml } from "./mhtml.js";
import { sleep } from "./sleep.js";

const CAPTURE = ["frame_group", "dom_safe_access", "secrets", "elements", "fast_serialize", "style_sheets", "unseen_state", "markup", "snapshot_cache", "paint_tracking", "table", "closed_roots", "snapshot", "sending", "idle_snapshot", "gestures", "typing", "scrolling", "hovering", "values", "events"];
const FILES = ["shared.js", ...CAPTURE.map((name) => `capture/${name}.js`), "content.js"];
const SCRIPT = "capture";
const MAX_ATTEMPTS = 5;
const INJECTING = 10_000; // ms that the frames of a tab have to take the scripts; a page that hangs never does
const RED = "#b3261e";

const wall = () => (performance.timeOrigin + performance.now()) / 1000;

// Ears.

/** What was told and not yet heard. */
const telling = new Set();

/** Tell the offscreen document what the browser reports; nobody listens while nothing is recorded. */
function notify(kind, news) {
  const sent = chrome.runtime.sendMessage({ to: "offscreen", news: { kind, at: wall(), ...news } }).catch(onSilence)
    .finally(() => telling.delete(sent));
  telling.add(sent);
}

/** Should the offscreen document have crashed, the toolbar must not say that anything is recorded. The panel offers what there is. */
async function onSilence() {
  if (!(await chrome.action.getBadgeText({})) || (await chrome.offscreen.hasDocument())) return;
  await TASKS.unregister();
  await TASKS.sign({ text: "", title: "demotape: the recording was interrupted; open the panel" });
}

/** @param {chrome.tabs.Tab & { openerTabId?: number }} tab */
const factsOf = ({ id, windowId, openerTabId = null, active, url = "", pendingUrl = "" }) =>
  ({ chromeTab: id, window: windowId, opener: openerTabId, active, url: url || pendingUrl });

chrome.tabs.onCreated.addListener((tab) => notify("created", factsOf(tab)));
chrome.tabs.onRemoved.addListener((chromeTab) => notify("removed", { chromeTab }));
chrome.tabs.onReplaced.addListener((added, removed) => notify("replaced", { chromeTab: added, removed }));
chrome.tabs.onActivated.addListener(({ tabId, windowId }) => notify("shown", { chromeTab: tabId, window: windowId }));
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

/** Keys that the person chose, wherever they are (chrome://extensions/shortcuts); pages do not get them. */
chrome.commands.onCommand.addListener((command) => notify("command", { command }));

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
    return { ...factsOf(tab), zoom: await chrome.tabs.getZoom(tab.id) };
  },

  stream: ({ chromeTab }) => chrome.tabCapture.getMediaStreamId({ targetTabId: chromeTab }),

  /** A picture of what a window shows, as a data URL. */
  still: ({ window }) => chrome.tabs.captureVisibleTab(window, { format: "png" }),

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

  /** The sign on the toolbar. */
  async sign({ text, title }) {
    await chrome.action.setBadgeBackgroundColor({ color: RED });
    await chrome.action.setBadgeTextColor({ color: "#ffffff" });
    await chrome.action.setBadgeText({ text });
    await chrome.action.setTitle({ title });
  },
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
  if (message.to !== "background" || (sender.tab && sender.origin !== location.origin)) return undefined;
  Promise.resolve(TASKS[message.task](message)).then((value) => answer({ value }), (error) => answer({ error: error.message }));
  return true;
});
