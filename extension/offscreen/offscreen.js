// The offscreen document: stores a recording while it is made, packs it and sends it. It is the offscreen document, so
// it lives on when Chrome stops the service worker. Pages talk to it by ports, the service worker by messages.
import { Packing } from "./packing.js";
import { Recording } from "./recording.js";
import { Store, openStore } from "./store.js";
import { Uploads } from "./uploads.js";
import { clock } from "./journal.js";
import { sleep } from "../sleep.js";

const IDLE = 30_000; // ms without a panel, a recording or an upload, after which the offscreen document is closed
const FIRST = 1000; // ms that a page may take to tell what it shows, before the recording is said to have begun
const MAX_ATTEMPTS = 5; // how often the service worker is asked again when it was stopped meanwhile

const store = openStore().then((database) => new Store(database));
const panels = new Set();
let leaving = 0;
let recording = null;
const uploads = new Uploads(store, () => notifyStored());

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
    if (recording) throw new Error("A recording is already in progress.");
    const id = newId(), started_at = clock();
    const facts = { id, task, started_at, provenance, ended: false, status: "recording", sent: null };
    const kept = await store, browser = await browserName(), version = await ask("version");
    await kept.saveRecording(facts);
    // From here on frames may open their lines: the beginning stands in the journal before anything of theirs.
    recording = new Recording(kept, facts, window, ask, notify);
    recording.journal.add("begin", { id, task, started_at, user_agent: navigator.userAgent, browser, version });
    try {
      const tab = await ask("shown", { window });
      recording.addTab(tab);
      if (tab.zoom !== 1) recording.journal.add("zoom", { tab: 1, zoom: tab.zoom });
      await ask("register");
      await ask("inject", tab);
      await recording.pictures.ready();
      if (/^(https?|file):/.test(tab.url)) {
        await Promise.race([recording.heard.promise, sleep(FIRST)]);
      }
      if (tab.url.startsWith("http")) await recording.pictures.learnColours();
    } catch (error) {
      await TASKS.stop();
      throw error;
    }
    await showSign();
    notify(state());
    return { id };
  },

  async pause() {
    recording?.pause();
    await showSign();
    notify(state());
  },

  async resume() {
    recording?.resume();
    await showSign();
    notify(state());
  },

  async say({ speaker, utterance }) {
    if (!recording) throw new Error("No recording is in progress.");
    recording.say(speaker, utterance);
  },

  async undo() {
    recording?.undo();
  },

  async stop() {
    if (!recording) return;
    const ending = recording;
    await ending.stop();
    recording = null;
    const { facts, journal } = ending, secret_digests = await ending.secrets.digests();
    await (await store).saveRecording({
      ...facts, ended: true, status: "kept", ended_at: clock(), bytes: journal.bytes, secret_digests });
    await ask("unregister");
    await showSign();
    notify(state());
    await notifyStored();
  },

  /** How much is on disk: number of the journal's last line, bytes; and the shown tab, once there is a picture of it. */
  async acknowledged() {
    const { acknowledged: line = 0, journal, pictures } = recording ?? {};
    return { line, bytes: journal?.bytes ?? 0, seen: pictures?.seen ? pictures.shown : 0 };
  },

  /** The recordings that wait on this computer. */
  kept: () => storedRecordings(),

  /** The package of a recording, as an address that can be downloaded from. */
  async pack({ id }) {
    const packing = await Packing.of(await store, id);
    return { url: URL.createObjectURL(await packing.blob()), name: `${id}.zip` };
  },

  async discard({ id }) {
    if (recording?.facts.id === id) throw new Error("This recording is in progress.");
    await (await store).remove(id);
    await notifyStored();
  },

  signIn: (account) => uploads.signIn(account),
  nextTask: () => uploads.nextTask(),
  giveBack: (said) => uploads.giveBack(said),
  signOut: () => uploads.signOut(),
  choose: (given) => uploads.choose(given),
  upload: ({ id }) => uploads.begin(id),
};

const state = () => ({
  state: recording
    ? { id: recording.facts.id, task: recording.facts.task, paused: recording.paused, elapsed: recording.elapsed,
      withheld: recording.pictures.withheld }
    : null,
});

const storedRecordings = async () =>
  (await (await store).recordings()).filter(({ id }) => id !== recording?.facts.id);

async function notifyStored() {
  notify({ kept: await storedRecordings(), account: await uploads.account() });
}

async function showSign() {
  const text = recording ? (recording.paused ? "II" : "REC") : "";
  const title = recording ? `demotape: ${recording.paused ? "paused" : "recording"}` : "demotape: open the panel";
  await ask("sign", { text, title });
}

// Who talks to the offscreen document.

/** @type {(sender: chrome.runtime.MessageSender) => boolean} */
const isOurs = ({ tab, origin }) => !tab || origin === location.origin; // a frame has a tab and another origin

chrome.runtime.onConnect.addListener((port) => {
  if (port.name === "panel" && isOurs(port.sender)) return onPanel(port);
  if (!port.name.startsWith("capture:") || isOurs(port.sender)) return undefined;
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
  panel.postMessage(state());
  for (const news of recording?.history() ?? []) panel.postMessage(news);
  notifyStored();
  uploads.refresh();
}

chrome.runtime.onMessage.addListener((message, sender) => {
  if (message.to !== "offscreen" || !isOurs(sender)) return;
  if (message.news.kind === "command") obey(message.news.command);
  else recording?.onNews(message.news);
});

/** A key of the browser's that steers the recording. */
function obey(command) {
  if (!recording) return;
  const task = command === "pause" && recording.paused ? "resume" : command;
  TASKS[task]({}).catch(({ message }) => notify({ problem: message }));
}

/** Close the offscreen document when nobody needs it for a while. */
function scheduleClosing() {
  clearTimeout(leaving);
  leaving = setTimeout(() => {
    if (!recording && !uploads.busy && !panels.size) ask("closeOffscreen");
    else if (!panels.size) scheduleClosing();
  }, IDLE);
}

uploads.resume();
scheduleClosing();
