// The page of a live room: the navigator's screen, the chat, and who is there.
"use strict";

(() => {
  const room = document.querySelector("[data-room]");
  const texts = JSON.parse(room.dataset.texts);
  const isInstructor = room.dataset.role === "instructor";
  const part = Object.fromEntries([...room.querySelectorAll("[id]")].map((element) => [element.id, element]));
  const HEADER_BYTES = 16; // of a picture: number, time, width and height of the viewport
  const messages = new Map(); // those that say something, by id
  let state = "offline", began = null, edited = null, connection = null;
  const signalButtons = ["your_turn", "help", "done", "failed"].map((id) => part[id]).filter(Boolean);
  const pointing = part.point && createPointing({
    button: part.point, area: part.area, ring: part.ring, hint: part["point-hint"], cancel: part["point-cancel"],
    picture: part.picture, texts, onMark: () => part.text.focus(),
  });

  function showState(shown, reason = "") {
    state = shown;
    part.state.textContent = reason ? `${texts[shown]}: ${reason}` : texts[shown];
    part.sign.className = `sign ${shown}`;
    part.picture?.classList.toggle("paused-picture", shown !== "recording");
    if (shown === "ended") {
      connection?.end();
      pointing?.end();
    }
    allowWriting();
  }

  /** Writing is possible while the recorder's clock is known, and during a break of the line, after which it is sent. */
  function allowWriting() {
    if (!isInstructor) return;
    const possible = ["recording", "offline", "waiting"].includes(state) && roomClock.uncertainty() !== null;
    for (const control of [part.text, part.send, ...signalButtons]) control.disabled = !possible;
    pointing?.allow(possible);
  }

  async function showPicture(data) {
    await pointing?.whenFree();
    const bitmap = await createImageBitmap(new Blob([new Uint8Array(data, HEADER_BYTES)], { type: "image/jpeg" }));
    if (part.picture.width !== bitmap.width) part.picture.width = bitmap.width;
    if (part.picture.height !== bitmap.height) part.picture.height = bitmap.height;
    part.picture.getContext("2d").drawImage(bitmap, 0, 0);
    bitmap.close();
    const header = new DataView(data, 0, HEADER_BYTES);
    part.picture.dataset.number = String(header.getUint32(0));
    part.picture.dataset.time = String(header.getFloat64(4));
    allowWriting();
  }

  function takeMessage(message) {
    if (!["edit", "delete"].includes(message.kind)) {
      messages.set(message.id, { changed: null, ...messages.get(message.id), ...message });
    } else if (messages.has(message.changes)) {
      messages.get(message.changes).changed = message;
    }
    showMessages();
  }

  function showMessages() {
    const atEnd = part.log.scrollTop + part.log.clientHeight >= part.log.scrollHeight - 8;
    const ordered = [...messages.values()].sort((one, other) => (one.number ?? Infinity) - (other.number ?? Infinity));
    ordered.forEach((message, index) => {
      message.item ??= newItem(message);
      fillItem(message);
      if (part.messages.children[index] !== message.item) part.messages.insertBefore(message.item, part.messages.children[index] ?? null);
    });
    if (atEnd) part.log.scrollTop = part.log.scrollHeight;
  }

  function newItem(message) {
    const item = document.createElement("li");
    item.classList.toggle("own", isInstructor && message.speaker === "instructor");
    for (const name of ["speaker", "words", "fate"]) {
      const line = document.createElement("span");
      line.className = name;
      item.append(line);
    }
    item.querySelector(".speaker").textContent = [texts[message.speaker], message.model].filter(Boolean).join(" · ");
    return item;
  }

  function fillItem(message) {
    const { item, changed } = message, latest = changed ?? message;
    item.querySelector(".words").textContent = changed?.kind === "edit" ? changed.text : wordsOf(message);
    item.classList.toggle("deleted", changed?.kind === "delete");
    item.classList.toggle("refused", latest.refused != null);
    const fate = item.querySelector(".fate");
    fate.replaceChildren(fateText(message, latest));
    if (isInstructor && message.kind === "say" && message.speaker === "instructor" && message.time != null && changed?.kind !== "delete" && state !== "ended") {
      fate.append(button("edit", () => beginEdit(message)), button("delete", () => sendChange("delete", message.id, "")));
    }
  }

  /** Of a signal its name, and the reason if there is one. */
  function wordsOf({ kind, text, success }) {
    if (kind === "say") return text;
    const name = texts[kind === "done" && !success ? "failed" : kind];
    return text ? `${name}: ${text}` : name;
  }

  function fateText(message, latest) {
    const words = message.region ? [texts.points] : [];
    if (latest.kind === "edit") words.push(texts.edited);
    if (latest.kind === "delete") words.push(texts.deleted);
    if (latest.refused != null) words.push(`${texts.refused}: ${texts[latest.refused] ?? latest.refused}`);
    else if (latest.time != null) words.push(`${texts.recorded} ${clockTime(message.time)}`);
    else words.push(latest.number ? texts.stored : texts.sending);
    return words.join(", ");
  }

  const clockTime = (seconds) => `${Math.floor(Math.max(0, seconds) / 60)}:${String(Math.floor(Math.max(0, seconds)) % 60).padStart(2, "0")}`;

  function button(name, act) {
    const control = document.createElement("button");
    Object.assign(control, { type: "button", className: "link", textContent: texts[name] });
    control.addEventListener("click", act);
    return control;
  }

  function beginEdit(message) {
    edited = message;
    pointing?.end();
    part.editing.hidden = false;
    part.text.value = message.changed?.kind === "edit" ? message.changed.text : message.text;
    part.text.focus();
  }

  function endEdit() {
    edited = null;
    part.editing.hidden = true;
    part.text.value = "";
    began = null;
  }

  function sendChange(kind, changes, text, { region = null, success = null } = {}) {
    const message = { type: "chat", kind, id: crypto.randomUUID?.() ?? randomId(), text, changes, region, success,
      began: roomClock.recorded(began), sent: roomClock.recorded(roomClock.now()), uncertainty: roomClock.uncertainty() };
    takeMessage({ ...message, speaker: "instructor", number: null, time: null, refused: null });
    connection.sendSurely(message);
  }

  /** Where the page is not from a secure origin, there is no randomUUID. */
  const randomId = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

  function hear(message) {
    if (message.type === "chat") takeMessage(message);
    if (message.type === "state") showState(message.state);
    if (message.type === "clock") {
      roomClock.add(message);
      allowWriting();
    }
    if (message.type === "people") {
      part.people.textContent = message.people.map(({ role, name }) => (name ? `${texts[role]}: ${name}` : texts[role])).join(" · ");
    }
  }

  function askClock() {
    if (state === "recording" || state === "paused") connection.send({ type: "clock", sent: roomClock.now() });
    setTimeout(askClock, roomClock.pause());
  }

  function begin() {
    connection = connectRoom(room.dataset.live, { hear, show: showPicture, change: (now, reason) => {
      if (now === "refused") {
        showState("closed", reason);
      } else if (now === "closed" && state !== "ended") {
        showState("offline");
      }
    } });
    if (isInstructor) askClock();
  }

  part.composer?.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = part.text.value.trim();
    if (!text || part.send.disabled) return;
    sendChange(edited ? "edit" : "say", edited?.id ?? null, text, { region: edited ? null : pointing?.take() ?? null });
    endEdit();
  });
  for (const button of signalButtons) {
    button.addEventListener("click", () => {
      const isOutcome = ["done", "failed"].includes(button.id);
      const reason = edited ? "" : part.text.value.trim();
      sendChange(isOutcome ? "done" : button.id, null, reason, { success: isOutcome ? button.id === "done" : null });
      if (reason) endEdit();
    });
  }
  part.text?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    part.composer.requestSubmit();
  });
  part.text?.addEventListener("input", () => {
    began = part.text.value ? began ?? roomClock.now() : null;
  });
  part.cancel?.addEventListener("click", endEdit);
  if (room.dataset.over) showState("ended");
  else begin();
})();
