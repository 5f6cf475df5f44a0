// Keys, dragging and focus of the review page. What is shown comes from the server; edits are sent by htmx.
"use strict";

(() => {
  const $ = (selector) => document.querySelector(selector);
  const workspace = () => $("#workspace");
  const selectedRow = () => $("#turns [aria-current]");
  const rows = () => [...document.querySelectorAll("#turns .row")];
  const KEYS_OFF = "demotape-keys-off";
  let wanted = null; // id of the turn that was asked for and is not shown yet
  let leftField = null; // name of the field that had the focus before a swap

  // ---- Turns -------------------------------------------------------------------------------------------------------

  let marked = null; // id of the turn that was marked last: one that comes anew is unfolded

  function mark(id) {
    turnList.current = id;
    if (id !== marked) turnList.unfold(id);
    marked = id;
    leadTabsTo(id);
    for (const other of rows()) other.toggleAttribute("aria-current", false);
    const row = turnList.rowOf(id);
    if (!row) return void turnList.reveal(id);
    row.setAttribute("aria-current", "true");
    row.scrollIntoView({ block: "nearest" });
    prefetch(row);
  }

  /** Ask for the pictures that come next, so that stepping through turns shows them at once. */
  function prefetch(row) {
    const all = rows();
    const index = all.indexOf(row);
    for (const near of [all[index + 1], all[index - 1]]) {
      if (near?.dataset.screenshot) new Image().src = near.dataset.screenshot;
    }
  }

  /** Fold the visit of a turn, or all; or unfold them where all are folded; who is at a turn of one is then at its
   *  heading. */
  function fold(index) {
    const isClosed = turnList.toggleVisits(index), focused = document.activeElement.closest("#turns details");
    if (isClosed && focused && !focused.open) focused.querySelector("summary").focus();
    const shown = isClosed ? selectedRow()?.closest("details") : selectedRow();
    if (shown) shown.scrollIntoView({ block: "nearest" });
    else turnList.reveal(turnList.current);
  }

  document.addEventListener("click", ({ target }) => {
    if (target.closest("#fold-all")) fold();
  });

  function step(by) {
    const all = turnList.shownIndexes(), index = all.indexOf(turnList.indexOf(turnList.current));
    const next = all[Math.min(Math.max(index + by, 0), all.length - 1)];
    if (next !== undefined && turnList.at(next).id !== turnList.current) turnList.go(next);
  }

  document.addEventListener("click", (event) => {
    const row = event.target.closest("#turns .row");
    if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
    wanted = row.parentElement.dataset.turn;
    mark(wanted);
  }, true);

  // ---- Keys --------------------------------------------------------------------------------------------------------

  // By the usual key, whichever was pressed (keys.js).
  const KEYS = new Set([..."abcdefghilmnopqrstuvwxyz?/.,0123456789", "Shift+A", "Shift+C", "Shift+E", "Shift+F", "Shift+G", "Shift+M", "Shift+N", "Shift+O", "Shift+Q", "Shift+T", "Shift+U", "Shift+X", "Alt+ArrowUp", "Alt+ArrowDown"]);
  const PLAIN_MOVES = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  const MOVES = { ...PLAIN_MOVES, "Shift+J": 1, "Shift+K": -1 };
  for (const name of ["ArrowDown", "ArrowUp", "Home", "End"]) MOVES[`Shift+${name}`] = PLAIN_MOVES[name];

  function isField(element) {
    return element.matches("input:not([type=hidden]), select, textarea");
  }

  document.addEventListener("keydown", (event) => {
    const { target } = event;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && target.matches("textarea:not(#task *)")) target.form?.requestSubmit();
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && target.matches("#task textarea")) {
      event.preventDefault(); // a task is one line
      target.form.requestSubmit();
    }
    if (isCommand(event) || event.isComposing || $("dialog[open]")) return;
    const isChoosing = !isField(target) || target.closest(".stage");
    if ((event.key === "Escape" && isChoosing && goBack()) || amongPictures(event)) return event.preventDefault();
    if (isField(target)) return inField(event);
    if (target.closest?.("[role=tree]")) return; // letters lead to its lines
    const name = keyOf(event);
    if (localStorage.getItem(KEYS_OFF) && name !== "?") return;
    if (press(name, event.key, event.repeat)) event.preventDefault();
  });

  /** Leave the choice of a target or a picture; false where none is made. */
  function goBack() {
    const back = $("#turn [data-back]");
    back?.click();
    selectedRow()?.focus({ preventScroll: true });
    return Boolean(back);
  }

  /** Arrows go through the pictures that one may choose. */
  function amongPictures({ key, target }) {
    const buttons = [...document.querySelectorAll(".pictures .picture-choice:not(:disabled)")], index = buttons.indexOf(target);
    const across = buttons.filter((button) => button.getBoundingClientRect().top === buttons[0].getBoundingClientRect().top).length;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: across, ArrowUp: -across }[key];
    if (index < 0 || !step) return false;
    buttons[index + step]?.focus();
    return true;
  }

  // A key acts on what the keys before it led to: while an answer is on its way, what follows waits for it. Steps need not
  // wait, for the row that they lead to is known; what is pressed after them does. Where they led to a field, letters are
  // its text, and in the tree they lead to its lines.
  const waiting = []; // { name, text }
  let underway = 0; // requests that were made and are not settled yet
  let leadsOn = false; // whether one of them leads to what Enter may mean

  /** Do what a key stands for, now or when its turn comes; tell whether it is taken care of. */
  function press(name, text, repeat) {
    const isStep = name in MOVES;
    const mustWait = waiting.length > 0 || (underway > 0 && !isStep) || !turnList.isReady;
    const isTyped = text.length === 1 || (text === "Enter" && (waiting.length > 0 || leadsOn)); // what stands in line may lead to a field
    if (!isStep && !KEYS.has(name) && !(mustWait && isTyped)) return false;
    if (!mustWait) act(name, repeat);
    else if (!repeat || isStep) waiting.push({ name, text });
    return true;
  }

  /** A key whose turn has come. */
  function turnOf({ name, text }) {
    const field = document.activeElement;
    if (field.closest("[role=tree], #operations")) field.dispatchEvent(new KeyboardEvent("keydown", { key: text, bubbles: true }));
    else if (!isField(field)) act(name);
    else if (text.length === 1 && field.matches("[type=search], [type=text], textarea")) {
      field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    } else if (text === "Enter" && field.form) {
      const button = field.form.querySelector("button:not([type=button])");
      if (!button?.disabled) field.form.requestSubmit(button);
    }
  }

  function act(name, repeat) {
    const key = { name, times: 1 }; // film.js may take it, or have it done several times
    if (!document.dispatchEvent(new CustomEvent("film:key", { detail: key, cancelable: true }))) return;
    if (name in MOVES) return step(MOVES[name] * key.times);
    if (name === "e") return $("#turn [data-first]:not(:disabled)")?.focus();
    if (name === "Shift+F") return fold(turnList.indexOf(turnList.current));
    const control = $(`[data-key="${CSS.escape(name)}"]`);
    const comments = control?.closest(".talk details");
    if (control && !repeat && !control.disabled && !comments?.open) control[control.matches("input") ? "focus" : "click"]();
    comments?.querySelector("textarea").focus();
  }

  const PATIENCE = 400; // ms after which it is shown that an answer is waited for
  let patience = null;

  function showWaiting(isWaiting) {
    document.body.classList.toggle("is-waiting", isWaiting);
    $("#turn").ariaBusy = String(isWaiting);
  }

  function noteBegun() {
    underway += 1;
    patience ??= setTimeout(showWaiting, PATIENCE, true);
  }

  function noteEnded() {
    underway -= 1;
    if (!underway) {
      leadsOn = false;
      clearTimeout(patience);
      patience = null;
      showWaiting(false);
    }
    actOnWaiting();
  }

  function actOnWaiting() {
    while (waiting.length && turnList.isReady && (!underway || waiting[0].name in MOVES)) turnOf(waiting.shift());
  }

  // What a row that is not in the page yet leads to is waited for as an answer is.
  document.addEventListener("turns:busy", ({ detail }) => { wanted = detail; });
  for (const name of ["htmx:config:request", "turns:busy"]) document.addEventListener(name, noteBegun);
  for (const name of ["htmx:finally:request", "turns:idle"]) document.addEventListener(name, noteEnded);
  document.addEventListener("turns:ready", actOnWaiting);

  function inField(event) {
    const { target } = event;
    if (event.key === "Enter" && !event.shiftKey && target.matches(".talk textarea")) {
      event.preventDefault();
      return target.form.requestSubmit();
    }
    const saves = event.key === "Enter" && !event.shiftKey
      && target.matches("#turn :is([type=text], [type=number], textarea:not([data-lines])):not(#operation-form *)");
    if (saves || event.key === "Escape") {
      event.preventDefault();
      target.blur(); // which saves what was changed
      selectedRow()?.focus({ preventScroll: true });
    }
  }

  // A key may press a button of a form that was swapped in an instant ago, before htmx has taken it up: the browser would
  // then send it by itself and load the whole page anew, and the keys pressed meanwhile would be lost.
  const handedOver = new WeakSet();
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || !form.matches("[hx-post], [hx-get]") || handedOver.has(form)) return;
    handedOver.add(form); // once: should htmx not take it now either, the browser may send it
    event.preventDefault();
    htmx.process(form);
    form.requestSubmit(event.submitter);
  });

  // ---- Sending and swapping ----------------------------------------------------------------------------------------

  // An edit may wait for the one before it: its version is filled in when it leaves, not when it was made. Its
  // key is its own, so that what a network sends twice is done once.
  document.addEventListener("htmx:before:request", ({ detail: { ctx } }) => {
    if (ctx.request.method !== "POST") return;
    ctx.request.body.set("version", workspace().dataset.version);
    ctx.request.body.set("key", Array.from(crypto.getRandomValues(new Uint32Array(3)), (part) => part.toString(36)).join("-"));
  });

  document.addEventListener("htmx:before:swap", () => {
    const { activeElement } = document;
    leftField = activeElement?.closest("#turn .fix") ? activeElement.name : null;
  });

  document.addEventListener("htmx:after:swap", ({ detail: { ctx } }) => {
    if (ctx.response?.status >= 400) restoreOrder();
    const { turn } = $("#turn").dataset;
    if (ctx.response?.status >= 400 || wanted === turn) wanted = null;
    mark(wanted ?? turn);
    arrange();
    if (document.activeElement === document.body || $("#target-search") || $("#turn [data-focus]")) {
      const field = leftField && $(`#turn .fix [name="${CSS.escape(leftField)}"]`);
      (field || $("#target-search") || $("#turn [data-focus]:not(:disabled)") || selectedRow())?.focus({ preventScroll: true });
    }
  });

  document.addEventListener("htmx:error", ({ detail: { ctx } }) => {
    if (!ctx) return;
    restoreOrder();
    wanted = null;
    mark($("#turn").dataset.turn); // the one that is shown
    const notice = document.createElement("div");
    notice.className = "notice";
    notice.append(Object.assign(document.createElement("p"), { textContent: $("#notice").dataset.noAnswer }));
    $("#notice").replaceChildren(notice);
  });

  // ---- Dragging ----------------------------------------------------------------------------------------------------

  const lists = () => [...document.querySelectorAll("#turns ol")];
  const items = () => [...document.querySelectorAll("#turns [data-turn]")];
  let order = null; // ids before a drag, by the list that they stood in, to return to when it is refused

  function restoreOrder() {
    if (!order) return;
    const byTurn = new Map(items().map((item) => [item.dataset.turn, item]));
    for (const [list, turns] of order) list.append(...turns.map((turn) => byTurn.get(turn)).filter(Boolean));
    order = null;
  }

  function dropped({ item, from, to, oldIndex, newIndex }) {
    if (from === to && oldIndex === newIndex) return;
    const form = $("#move-form");
    form.elements.turn.value = item.dataset.turn;
    form.elements.selected.value = item.dataset.turn;
    const before = items()[items().indexOf(item) - 1]?.dataset.turn;
    const first = Math.min(...items().filter((other) => other !== item).map((other) => turnList.indexOf(other.dataset.turn)));
    form.elements.after.value = before ?? turnList.at(first - 1)?.id ?? "";
    form.requestSubmit();
  }

  function makeSortable(list) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    list.sortable = Sortable.create(list, {
      group: "turns", animation: still ? 0 : 120, draggable: "li", forceFallback: true, fallbackTolerance: 5, delay: 200,
      delayOnTouchOnly: true, scrollSensitivity: 60,
      // What is dragged stands in the list twice for a while: itself, and the copy under the pointer.
      onStart: () => {
        order = lists().map((turnList) => [turnList, [...new Set([...turnList.children].map((item) => item.dataset.turn))]]);
      },
      onEnd: dropped,
    });
  }

  // Sortable looks every 50 ms at where the pointer is: where it is let go counts, too, however quick the hand.
  document.addEventListener("pointerup", () => Sortable.active?._emulateDragOver(), true);

  // There may be hundreds of lists: they are made so when the pointer comes to them.
  document.addEventListener("pointerover", ({ target }) => {
    if (!target.closest("#turns[data-sortable]")) return;
    for (const list of lists()) if (!list.sortable) makeSortable(list);
  });

  // ---- Things that follow what is shown ----------------------------------------------------------------------------

  /** A DOM snapshot is laid out at the width it was recorded at, then scaled to the stage. */
  function fit(frame) {
    frame.style.transform = `scale(${frame.parentElement.clientWidth / frame.width})`;
  }

  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const frame = target.querySelector("[data-snapshot]");
      if (frame) fit(frame);
    }
  });

  // What was begun and not sent stays with its turn.
  const drafts = new Map();
  const draftOf = (textarea) => `${textarea.form.elements.selected.value} ${textarea.id}`;
  let talkOf = null; // the turn whose comments stand there

  document.addEventListener("input", ({ target }) => {
    if (target.matches(".talk textarea")) drafts.set(draftOf(target), target.value);
  });

  // It comes a while after the click: whoever is elsewhere by then stays there.
  document.addEventListener("toggle", ({ target }) => {
    const pressed = target.closest(".talk") && document.activeElement === target.querySelector("summary");
    if (target.open && pressed) target.querySelector("textarea").focus();
  }, true);

  function takeUpDrafts() {
    const { turn } = $("#turn").dataset;
    if (talkOf === turn) return;
    talkOf = turn;
    for (const textarea of document.querySelectorAll(".talk textarea")) {
      textarea.value = drafts.get(draftOf(textarea)) ?? "";
      textarea.closest("details").open = false;
      if (textarea.value) textarea.closest("details").querySelector("summary").dataset.draft = "";
      else delete textarea.closest("details").querySelector("summary").dataset.draft;
    }
  }

  function arrange() {
    takeUpDrafts();
    if (!$("#turns").hasAttribute("data-sortable")) {
      for (const list of lists()) list.sortable = list.sortable?.destroy();
    }
    resized.disconnect();
    for (const screen of document.querySelectorAll(".screen")) resized.observe(screen);
  }

  // ---- Dialogs and notices -----------------------------------------------------------------------------------------

  const AREAS = { ".film": "turns", ".stage": "picture", ".editor": "turn", ".bar": "demonstration" };
  let focusedArea = "turns"; // of the page, which had the focus last; not by the button of the help

  document.addEventListener("focusin", ({ target }) => {
    const area = Object.keys(AREAS).find((selector) => target.closest(selector));
    if (area && !target.closest("[data-opens=help]")) focusedArea = AREAS[area];
  });

  /** The keys of the area that has the focus come first. */
  function sortHelp() {
    const groups = [...document.querySelectorAll("[data-keys-of]")];
    for (const group of groups) group.querySelector(".flag").hidden = group.dataset.keysOf !== focusedArea;
    const order = [focusedArea, ...Object.values(AREAS)];
    groups.sort((group, other) => order.indexOf(group.dataset.keysOf) - order.indexOf(other.dataset.keysOf));
    $(".key-groups").append(...groups);
  }

  document.addEventListener("click", ({ target }) => {
    const opener = target.closest("[data-opens]");
    if (opener?.dataset.opens === "help") sortHelp();
    if (opener) document.getElementById(opener.dataset.opens).showModal();
    if (target.closest("[data-closes]")) target.closest("dialog").close();
    if (target.closest("[data-dismiss]")) $("#notice").replaceChildren();
    if (target.matches("dialog")) target.close(); // a click beside it
  });

  document.addEventListener("submit", ({ target }) => target.closest("dialog")?.close());

  // A target that was chosen is not chosen again: keys pressed before the answer comes belong to the list of turns.
  document.addEventListener("submit", ({ target }) => {
    if (target.matches("#retarget-form, #tree-form")) selectedRow()?.focus({ preventScroll: true });
    if (target.matches("[data-confirms]")) leadsOn = true;
    if (target.matches("#operation-form")) document.activeElement.blur(); // the turn that is added has the focus then
  });

  const keysOn = $("#keys-on");
  keysOn.checked = !localStorage.getItem(KEYS_OFF);
  keysOn.addEventListener("change", () => {
    if (keysOn.checked) localStorage.removeItem(KEYS_OFF);
    else localStorage.setItem(KEYS_OFF, "1");
  });

  arrange();
  mark($("#turn").dataset.turn);
  $("#turn [data-focus]:not(:disabled)")?.focus({ preventScroll: true });
})();
