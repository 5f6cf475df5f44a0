// The side panel: shows the state of the offscreen document and forwards the person's commands. It may be closed at any
// time.
import { noteAgreement, useAgreement } from "./agreement.js";
import { showRecordings, watchRetention } from "./stored_recordings.js";
import { askAgain, askOnce, provenance, useAccount } from "./provenance.js";
import { forgetTask, taskGiven, watchTask } from "./task.js";

const { clock, fill } = globalThis.demotapeLines;
const AGAIN = 200; // ms after which an offscreen document that is gone is called again
const SILENCE_TIMEOUT_MS = 3000; // without a report of the offscreen document, which sends one a second
/** @type {Record<string, any>} */
const part = Object.fromEntries([...document.querySelectorAll("[id]")].map((element) => [element.id, element]));
const given = Number(new URLSearchParams(location.search).get("window")); // in a test the panel is a window of its own
const questions = new Map(); // number -> [done, failed]
const items = new Map(); // number of a line -> its item in the list
const pictures = new Map(); // number of an event -> small picture
const PHASES = { // what the panel says, and its style
  starting: ["Starting", ""], recording: ["Recording", "recording"], delayed: ["Waiting for the disk", "failed"],
  paused: ["Paused: not recording", "paused"], stopping: ["Stopping", ""], silent: ["No response", "failed"],
  interrupted: ["Interrupted: not recording", "failed"], failed: ["Recording ended: writing failed", "failed"],
  closed: ["Not recording", ""], idle: ["Not recording", ""],
};
let asked = 0, zero = 0, current = null, ending = null, reportedAt = Infinity;
let offscreen = Promise.withResolvers(); // of a port

// Talking to the offscreen document.

async function connect() {
  await chrome.runtime.sendMessage({ to: "background", task: "offscreen" });
  clear();
  const port = chrome.runtime.connect({ name: "panel" });
  port.onMessage.addListener((said) => {
    offscreen.resolve(port); // its first word: somebody is there
    take(said);
  });
  port.onDisconnect.addListener(() => {
    void chrome.runtime.lastError;
    if (current) showPhase("interrupted");
    for (const [, failed] of questions.values()) failed(new Error("demotape was interrupted; try again."));
    questions.clear();
    offscreen = Promise.withResolvers();
    setTimeout(connect, AGAIN);
  });
}

/** Ask the offscreen document for something; what goes wrong is shown. */
export async function ask(task, fields = {}) {
  const port = await offscreen.promise;
  const answer = new Promise((done, failed) => questions.set(++asked, [done, failed]));
  port.postMessage({ ask: asked, do: task, ...fields });
  try {
    show(null);
    return await answer;
  } catch (error) {
    show(error.message);
    throw error;
  }
}

const quietly = (task, fields) => ask(task, fields).catch(() => {}); // the notice says it

function show(message) {
  for (const notice of [part.notice, part["idle-notice"]]) {
    notice.textContent = message ?? "";
    notice.hidden = !message;
  }
}

// What the offscreen document tells.

const NEWS = {
  state: (now, news) => showState(now, news),
  beat: ({ phase }) => showPhase(phase),
  line: (line) => showLine(line),
  picture: ({ event, small }) => {
    pictures.set(event, small);
    for (const item of items.values()) if (item.events.has(event)) picture(item, small);
  },
  chat: ({ time, speaker, utterance }) => fill(add(), speaker, utterance, time),
  withheld: (withheld) => (part["click-me"].hidden = !withheld || !current || current.paused),
  unreadable: (unreadable) => (part["cannot-read"].hidden = !unreadable || !current),
  problem: show,
  kept: (kept, { account, others, days }) => {
    useAccount(part, account);
    useAgreement(part, account);
    showRecordings(part, kept, account, { others, days, ask: quietly });
  },
};

function take(said) {
  reportedAt = performance.now();
  if (said.answer !== undefined) {
    const [done, failed] = questions.get(said.answer) ?? [];
    questions.delete(said.answer);
    return said.error ? failed?.(new Error(said.error)) : done?.(said.value);
  }
  const { list } = part, atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 8;
  for (const kind of Object.keys(NEWS)) if (kind in said) NEWS[kind](said[kind], said);
  allowUndo();
  if (atEnd) list.scrollTop = list.scrollHeight;
  return undefined;
}

function clear() {
  items.clear();
  pictures.clear();
  part.lines.replaceChildren();
  part.count.textContent = "0";
  part.none.hidden = false;
}

function showPhase(phase) {
  const [text, style] = PHASES[phase];
  if (part.state.textContent !== text) part.state.textContent = text; // said once by a screen reader
  part.sign.className = `sign ${style}`.trim();
}

/** How the last recording ended, if the person did not end it: shown until the next one starts, or it is dismissed. */
function showEnding(now) {
  if (now && ending?.phase !== now.phase && now.task && !part.task.value) part.task.value = now.task;
  ending = now;
  part.ending.hidden = !now;
  part.start.firstChild.data = now && now.phase !== "closed" ? "Continue recording " : "Start recording ";
  if (!now) return;
  part["ending-text"].textContent = {
    interrupted: "The recording was interrupted. What was recorded until then is kept on this computer.",
    failed: now.full ? "The disk is full, so the recording ended. What was written until then is kept. Free space, then continue."
      : "Writing failed, so the recording ended. What was written until then is kept.",
    closed: "The recording ended because its last tab was closed. It is kept on this computer.",
  }[now.phase];
}

function showState(now, news) {
  showPhase(news.phase);
  showEnding(news.ending);
  if (now?.id !== current?.id && current) clear();
  current = now;
  for (const name of ["recording", "chat", "clock"]) part[name].hidden = !now;
  part.idle.hidden = Boolean(now);
  if (!now) return;
  const { paused, elapsed, task, withheld, unreadable } = now;
  zero = performance.now() - elapsed * 1000;
  part.heading.textContent = task || "No task";
  part.pause.firstChild.data = paused ? "Resume " : "Pause ";
  part.pause.classList.toggle("primary", paused);
  part.utterance.placeholder = paused ? "Paused" : "Say something; Enter sends";
  part.utterance.readOnly = part.send.disabled = paused; // not disabled: whoever is writing keeps the focus
  part.clock.textContent = clock(elapsed);
  part.stop.disabled = news.phase === "stopping";
  NEWS.withheld(withheld);
  NEWS.unreadable(unreadable);
}

function add() {
  /** @type {any} */
  const item = document.createElement("li");
  item.events = new Set();
  part.lines.append(item);
  part.none.hidden = true;
  part.count.textContent = String(part.lines.children.length);
  return item;
}

function showLine({ line, event, word, name, time, undone }) {
  if (!items.has(line)) items.set(line, add());
  const item = items.get(line);
  item.events.add(event);
  const small = item.querySelector(".small");
  fill(item, word, name, time, undone);
  item.prepend(small ?? Object.assign(document.createElement("img"), { className: "small", alt: "" }));
  if (!small && pictures.has(event)) picture(item, pictures.get(event));
}

/** The first picture of a line is the one from before it. */
function picture(item, small) {
  const image = item.querySelector(".small");
  if (image && !image.getAttribute("src")) image.src = small;
}

function allowUndo() {
  part.undo.disabled = !current || ![...items.values()].some((item) => !item.classList.contains("undone"));
}

// What the person asks for.

part.begin.addEventListener("submit", async (event) => {
  event.preventDefault();
  part.start.disabled = true;
  const window = given || (await chrome.windows.getCurrent()).id;
  noteAgreement(part);
  const task = part.task.value.trim();
  const continued = ending?.task_id && ending.task === task ? { task_id: ending.task_id } : {};
  await quietly("start", { task, window, provenance: { ...provenance(), ...continued, ...taskGiven(part) } });
  part.start.disabled = false;
});
part.pause.addEventListener("click", () => quietly(current?.paused ? "resume" : "pause"));
part.undo.addEventListener("click", () => quietly("undo"));
part.stop.addEventListener("click", async () => {
  part.stop.disabled = true;
  showPhase("stopping");
  await quietly("stop");
  part.task.value = "";
  forgetTask(part);
});
watchRetention(part, quietly);
part.dismiss.addEventListener("click", () => quietly("dismiss"));
part.chat.addEventListener("submit", async (event) => {
  event.preventDefault();
  const utterance = part.utterance.value.trim(), speaker = new FormData(part.chat).get("speaker");
  if (!utterance) return;
  part.utterance.value = "";
  await ask("say", { speaker, utterance }).catch(() => (part.utterance.value ||= utterance));
});
part["sign-in"].addEventListener("submit", async (event) => {
  event.preventDefault();
  const notice = part["sign-in-notice"];
  try {
    await ask("signIn", { server: part.server.value.trim(), token: part.token.value.trim() });
    part.token.value = "";
    notice.hidden = true;
  } catch (error) { // told where it was asked for; what was typed stays
    show(null);
    notice.textContent = error.message;
    notice.hidden = false;
  }
});
const nextTask = async () => {
  const task = await quietly("nextTask");
  if (task?.consent_prompt === "session") askAgain(part);
  return task;
};
watchTask(part, nextTask, (said) => ask("giveBack", said).then(() => true, () => false)); // the notice says why
part.project.addEventListener("change", () => quietly("choose", { project: part.project.value }));
part["sign-out"].addEventListener("click", () => quietly("signOut"));
part.task.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) part.begin.requestSubmit();
});
addEventListener("keydown", (event) => {
  const keys = current ? { KeyP: part.pause, KeyZ: part.undo, KeyS: part.stop } : { KeyR: part.start };
  const button = event.altKey && !event.ctrlKey && !event.metaKey && keys[event.code];
  if (!button) return;
  event.preventDefault();
  if (!event.repeat) button.click();
});
askOnce(part);
useAgreement(part, null);
part.version.textContent = chrome.runtime.getManifest().version;
part.report.addEventListener("click", async () => {
  const { phase = "idle" } = ending ?? {};
  await navigator.clipboard.writeText(`demotape ${part.version.textContent}, ${navigator.userAgent}, state: ${phase}`);
  part["report-done"].hidden = false;
});
setInterval(() => {
  if (current && performance.now() - reportedAt > SILENCE_TIMEOUT_MS) showPhase("silent");
  else if (current && !current.paused) part.clock.textContent = clock((performance.now() - zero) / 1000);
}, 250);

connect();
