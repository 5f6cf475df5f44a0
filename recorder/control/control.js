// The control page: shows the recorder's state and forwards the person's commands.
"use strict";

globalThis.control = (function () {
  const { clock, fill } = globalThis.demotapeLines;
  /** @type {Record<string, any>} */
  const part = Object.fromEntries([...document.querySelectorAll("[id]")].map((element) => [element.id, element]));
  const lines = new Map(); // number of a line -> its item in the list
  const messages = new Map(); // id of a message in a live room -> what was said, and its item
  let started = false, paused = false, running = false, zero = 0;

  async function ask(command, ...values) {
    const answer = await globalThis.demotape(command, ...values);
    part.notice.textContent = answer.error ?? "";
    part.notice.hidden = !answer.error;
    return answer;
  }

  function showState(now) {
    ({ paused } = now);
    running = true;
    zero = performance.now() - now.elapsed * 1000;
    part.state.textContent = paused ? "Paused: not recording" : "Recording";
    part.sign.className = paused ? "sign paused" : "sign recording";
    part.pause.firstChild.data = paused ? "Resume " : "Pause ";
    part.pause.classList.toggle("primary", paused);
    part.utterance.placeholder = paused ? "Paused" : "Say something; Enter sends";
    for (const name of ["pause", "stop"]) part[name].disabled = false;
    for (const button of [part.send, ...signalButtons]) button.disabled = paused;
    part.utterance.disabled = false;
    part.utterance.readOnly = paused; // not disabled: whoever is writing keeps the focus
    part.clock.textContent = clock(now.elapsed);
    allowUndo();
  }

  function showFailed(message) {
    running = false;
    part.state.textContent = "Recording stopped";
    part.sign.className = "sign failed";
    part.notice.textContent = message;
    part.notice.hidden = false;
    for (const control of [part.pause, part.undo, part.utterance, part.send, ...signalButtons]) control.disabled = true;
  }

  function allowUndo() {
    part.undo.disabled = !running || ![...lines.values()].some((item) => !item.classList.contains("undone"));
  }

  function add() {
    const item = document.createElement("li");
    part.lines.append(item);
    part.none.hidden = true;
    part.count.textContent = String(part.lines.children.length);
    return item;
  }

  const SIGNALS = { your_turn: "Your turn", help: "Needs help", done: { true: "Done", false: "Not possible" } };
  const signalButtons = [...part.signals.querySelectorAll("button")];

  /** The words of a message: of a signal its name, and the reason if there is one. */
  function wordsOf({ signal, success, utterance }) {
    if (!signal) return utterance;
    const name = signal === "done" ? SIGNALS.done[success] : SIGNALS[signal];
    return utterance ? `${name}: ${utterance}` : name;
  }

  /** What is said; in a live room also what is edited or deleted there. */
  function showChat(news) {
    const said = messages.get(news.changes);
    if (!said) {
      const item = add();
      if (news.id) messages.set(news.id, { ...news, item });
      return fill(item, news.speaker, wordsOf(news), news.time);
    }
    fill(said.item, said.speaker, news.utterance || said.utterance, said.time, !news.utterance);
    if (said.figure) said.item.append(said.figure);
  }

  /** Where the instructor points in a message that was shown. */
  function showPointing({ id, picture, region }) {
    const said = messages.get(id);
    if (!said) return;
    said.figure = globalThis.demotapePointing.figure(picture, region, said.pointing?.element);
    said.item.append(said.figure);
  }

  /** Who is in the live room besides the navigator. */
  function showRoom({ people }) {
    const others = people.filter(({ role }) => role !== "navigator").map(({ role, name }) => (name ? `${role} ${name}` : role));
    part.room.textContent = !people.length ? "Live room: not connected" : `Live room: ${others.join(", ") || "nobody else yet"}`;
  }

  function showItem(news) {
    if (news.type === "state") return showState(news);
    if (news.type === "failed") return showFailed(news.message);
    if (news.type === "chat") return showChat(news);
    if (news.type === "pointing") return showPointing(news);
    if (news.type === "room") return showRoom(news);
    if (!lines.has(news.line)) lines.set(news.line, add());
    fill(lines.get(news.line), news.word, news.name, news.time, news.undone);
  }

  /** Take in news in order, once this page has started; the list follows its end unless the person has scrolled up to read. */
  function take(all) {
    if (!started) return false;
    const { list } = part;
    const atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 8;
    for (const news of all) showItem(news);
    allowUndo();
    if (atEnd) list.scrollTop = list.scrollHeight;
    return true;
  }

  part.pause.addEventListener("click", () => ask(paused ? "resume" : "pause"));
  part.undo.addEventListener("click", () => ask("undo"));
  part.stop.addEventListener("click", () => {
    for (const control of [part.pause, part.undo, part.stop, part.utterance, part.send, ...signalButtons]) control.disabled = true;
    running = false;
    part.state.textContent = "Stopping";
    part.sign.className = "sign";
    ask("stop");
  });
  part.chat.addEventListener("submit", async (event) => {
    event.preventDefault();
    const utterance = part.utterance.value.trim();
    if (!utterance) return;
    const { error } = await ask("say", new FormData(part.chat).get("speaker"), utterance);
    if (!error && part.utterance.value.trim() === utterance) part.utterance.value = "";
  });
  part.signals.addEventListener("click", async ({ target }) => {
    const { signal, success = "" } = target.closest("button")?.dataset ?? {};
    if (!signal) return;
    const reason = part.utterance.value.trim();
    const { error } = await ask("signal", signal, success, reason);
    if (!error && part.utterance.value.trim() === reason) part.utterance.value = "";
  });
  const KEYS = { KeyP: part.pause, KeyZ: part.undo, KeyS: part.stop };
  const ROOM_KEYS = { KeyT: signalButtons[0], KeyH: signalButtons[1], KeyD: signalButtons[2], KeyN: signalButtons[3] };
  addEventListener("keydown", (event) => {
    const keys = part.signals.hidden ? KEYS : { ...KEYS, ...ROOM_KEYS };
    const button = event.altKey && !event.ctrlKey && !event.metaKey && keys[event.code];
    if (!button) return;
    event.preventDefault();
    if (!event.repeat) button.click();
  });
  setInterval(() => {
    if (running && !paused) part.clock.textContent = clock((performance.now() - zero) / 1000);
  }, 250);

  ask("start").then((now) => {
    part.task.textContent = now.task || "No task";
    part.room.hidden = !now.room;
    part.signals.hidden = !now.room;
    part.speakers.hidden = now.room; // the instructor is in the room
    if (now.room) part.chat.querySelector("[value=navigator]").checked = true;
    showState(now);
    started = true;
  });
  return { take };
})();
