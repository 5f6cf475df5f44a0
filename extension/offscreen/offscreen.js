// The offscreen document: stores a recording while it is made, packs it and sends it. It is the offscreen document, so
// it lives on when Chrome stops the service worker. Pages talk to it by ports, the service worker by messages.
import { ownerOf, ownershipOf } from "./ownership.js";
import { Packing } from "./packing.js";
import { Retention } from "./retention.js";
import { Session } from "./session.js";
import { openStore } from "./store.js";
import { Uploads } from "./uploads.js";
import { clock } from "./journal.js";

const IDLE = 30_000; // ms without a panel, a recording or an upload, after which the offscreen document is closed
const EXPIRY_INTERVAL_MS = 3_600_000; // between looks for sent recordings that are stored long enough
const MAX_ATTEMPTS = 5; // how often the service worker is asked again when it was stopped meanwhile

const opening = openStore();
const store = opening.then((opened) => opened.store);
const panels = new Set();
let leaving = 0;
const session = new Session(store, { ask, tell: notify, onStored: () => notifyStored() });
const uploads = new Uploads(store, () => notifyStored(), (id) => session.finished(id));
const retention = new Retention(store, () => notifyStored());
opening.then(({ interrupted }) => session.noteInterrupted(interrupted));

function notify(news) {
  for (const panel of panels) panel.postMessage(news);
}

/** Have the service worker do something; raises what it says. */
async function ask(task, fields = {}) {
  for (let attempt = 1; ; attempt++) {
    try {
      const { value, error } = await chrome.runtime.sendMessage({ to: "background", task, ...fields });
      if (error) throw Object.assign(new Error(error), { answered: true });
      return value;
    } catch (error) {
      if (error.answered || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** An id that sorts by time and that no other recording has. */
function newId() {
  const now = new Date(), two = (number) => String(number).padStart(2, "0");
  const date = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  const random = Array.from(crypto.getRandomValues(new Uint8Array(4)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${date}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}-${random}`;
}

async function browserName() {
  const { userAgentData } = /** @type {any} */ (navigator);
  const { fullVersionList = [] } = (await userAgentData?.getHighEntropyValues(["fullVersionList"])) ?? {};
  const found = fullVersionList.find(({ brand }) => /Chrom/.test(brand));
  return found ? `${found.brand} ${found.version}` : "Chromium";
}

// What the panel asks for.

const TASKS = {
  async start({ task, window, provenance }) {
    const id = newId(), started_at = clock();
    const browser = await browserName(), version = await ask("version");
    const owner = ownerOf(await uploads.account());
    const facts = { id, task, started_at, provenance, owner, ended: false, status: "recording", sent: null };
    await session.start(facts, window, { id, task, started_at, user_agent: navigator.userAgent, browser, version });
    return { id };
  },

  pause: () => session.pause(),
  resume: () => session.resume(),

  async say({ speaker, utterance }) {
    if (!session.recording) throw new Error("No recording is in progress.");
    session.recording.say(speaker, utterance);
  },

  async undo() {
    session.recording?.undo();
  },

  stop: () => session.stop(),
  dismiss: () => session.dismiss(),

  /** How much is on disk: number of the journal's last line, bytes; and the shown tab, once there is a picture of it. */
  async acknowledged() {
    const { acknowledged: line = 0, journal, pictures } = session.recording ?? {};
    return { line, bytes: journal?.bytes ?? 0, seen: pictures?.seen ? pictures.shown : 0 };
  },

  /** The recordings that wait on this computer. */
  kept: async () => (await storedRecordings()).kept,

  /** The package of a recording, as an address that can be downloaded from. */
  async pack({ id }) {
    await session.finished(id);
    await refuseForeign(id);
    const packing = await Packing.of(await store, id);
    return { url: URL.createObjectURL(await packing.blob()), name: `${id}.zip` };
  },

  async discard({ id }) {
    await session.finished(id);
    await refuseForeign(id);
    if (session.recording?.facts.id === id) throw new Error("This recording is in progress.");
    await (await store).remove(id);
    await notifyStored();
  },

  /** Discard what the account, or nobody, has sent. */
  async discardSent() {
    const account = await uploads.account();
    await retention.discardSent((facts) => ownershipOf(facts, account) !== "other");
  },

  keepSent: (choice) => retention.choose(choice),
  signIn: (account) => uploads.signIn(account),
  nextTask: () => uploads.nextTask(),
  giveBack: (said) => uploads.giveBack(said),
  signOut: () => uploads.signOut(),
  choose: (given) => uploads.choose(given),
  upload: ({ id }) => uploads.begin(id),
};

/** The stored recordings of the account and of nobody; of other accounts only how many there are. */
async function storedRecordings() {
  const account = await uploads.account(), all = await (await store).recordings();
  const stored = all.filter(({ id }) => id !== session.recording?.facts.id)
    .map((facts) => ({ ...facts, finishing: session.isFinishing(facts.id), ownership: ownershipOf(facts, account) }));
  const own = stored.filter(({ ownership }) => ownership !== "other");
  return { kept: own, others: stored.length - own.length, account, days: await retention.days() };
}

async function refuseForeign(id) {
  const facts = await (await store).recording(id);
  if (facts && ownershipOf(facts, await uploads.account()) === "other") throw new Error("This recording belongs to another account.");
}

async function notifyStored() {
  notify(await storedRecordings());
}

// Who talks to the offscreen document.

/** @type {(sender: chrome.runtime.MessageSender) => boolean} */
const isOurs = ({ tab, origin }) => !tab || origin === location.origin; // a frame has a tab and another origin

chrome.runtime.onConnect.addListener((port) => {
  if (port.name === "panel" && isOurs(port.sender)) return onPanel(port);
  if (port.name === "status" && isOurs(port.sender)) return session.onStatusPort(port);
  if (!port.name.startsWith("capture:") || isOurs(port.sender)) return undefined;
  const { recording } = session;
  return recording ? recording.onPort(port) : port.postMessage({ record: "off" });
});

function onPanel(panel) {
  panels.add(panel);
  panel.onDisconnect.addListener(() => {
    panels.delete(panel);
    scheduleClosing();
  });
  panel.onMessage.addListener(async ({ ask, do: task, ...fields }) => {
    try {
      panel.postMessage({ answer: ask, value: (await TASKS[task](fields)) ?? null });
    } catch (error) {
      panel.postMessage({ answer: ask, error: error.message });
    }
  });
  opening.then(() => { // so that a recording that was interrupted is known
    panel.postMessage(session.state);
    for (const news of session.recording?.feed.history() ?? []) panel.postMessage(news);
  });
  notifyStored();
  uploads.refresh();
}

chrome.runtime.onMessage.addListener((message, sender) => {
  if (message.to !== "offscreen" || !isOurs(sender)) return;
  if (message.news.kind === "command") obey(message.news.command);
  else session.recording?.onNews(message.news);
});

/** A key of the browser's that steers the recording. */
function obey(command) {
  const { recording } = session;
  if (!recording) return;
  const task = command === "pause" && recording.paused ? "resume" : command;
  Promise.resolve(TASKS[task]({})).catch(({ message }) => notify({ problem: message }));
}

/** Close the offscreen document when nobody needs it for a while. */
function scheduleClosing() {
  clearTimeout(leaving);
  leaving = setTimeout(() => {
    if (!session.isBusy && !uploads.busy && !panels.size) ask("closeOffscreen");
    else if (!panels.size) scheduleClosing();
  }, IDLE);
}

uploads.resume();
retention.discardExpired();
setInterval(() => retention.discardExpired(), EXPIRY_INTERVAL_MS);
scheduleClosing();
