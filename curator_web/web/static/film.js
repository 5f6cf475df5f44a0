// Turns in the strip: several of them at once, a number before a key, which are shown, and the next one to check.
"use strict";

(() => {
  if (!document.querySelector("#film-search")) return; // there are no turns
  const $ = (selector) => document.querySelector(selector);
  const items = () => [...document.querySelectorAll("#turns [data-turn]")];
  const current = () => $("#turns [aria-current]")?.parentElement;
  const COUNT_DIGITS = 3;
  let anchor = null; // id of the turn at which the range begins; it ends at the current one
  let count = ""; // digits that were pressed, for the key after them
  let sought = ""; // what is typed in the filter

  // ---- Ranges ------------------------------------------------------------------------------------------------------

  /** The turns from the anchor to the current one that are shown; none where no range was begun. */
  function range() {
    const all = items();
    const positions = [all.findIndex((item) => item.dataset.turn === anchor), all.indexOf(current())];
    if (positions.includes(-1)) return [];
    return all.slice(Math.min(...positions), Math.max(...positions) + 1).filter((item) => !item.hidden);
  }

  /** Mark the range, and say what can be done with it. */
  function paint() {
    const chosen = range(), several = chosen.length > 1, inRange = new Set(several ? chosen : []);
    for (const item of items()) item.classList.toggle("in-range", inRange.has(item));
    $("#range-form").classList.toggle("several", several);
    $("#range-count").textContent = several ? $("#range-count").dataset.several.replace("{count}", chosen.length) : count;
    const word = $("#range-form .word");
    word.textContent = allDropped(chosen) ? word.dataset.restore : word.dataset.drop;
  }

  const allDropped = (chosen) => chosen.every((item) => item.classList.contains("dropped"));

  /** Drop these turns, or restore them where all are dropped. */
  function drop(chosen) {
    const form = $("#range-form");
    form.elements.op.value = allDropped(chosen) ? "restore" : "drop";
    form.elements.selected.value = current().dataset.turn;
    for (const old of form.querySelectorAll("[name=turns]")) old.remove();
    form.append(...chosen.map((item) => Object.assign(document.createElement("input"), {
      type: "hidden", name: "turns", value: item.dataset.turn,
    })));
    forget();
    form.requestSubmit();
  }

  function forget() {
    anchor = null;
    count = "";
    paint();
  }

  document.addEventListener("click", (event) => {
    if (event.target.closest("#range-form button")) {
      event.preventDefault();
      drop(range());
    }
    const row = event.target.closest("#turns .row");
    if (!row || !event.isTrusted || event.ctrlKey || event.metaKey) return;
    if (!event.shiftKey) return forget();
    event.preventDefault(); // the browser would open a window
    event.stopPropagation();
    anchor ??= current()?.dataset.turn;
    row.click();
    paint();
  }, true);

  // ---- Keys --------------------------------------------------------------------------------------------------------

  document.addEventListener("film:key", (event) => {
    const { name } = event.detail, times = Number(count) || 1;
    if (/^\d$/.test(name)) {
      event.preventDefault();
      count = (count + name).replace(/^0+/, "").slice(0, COUNT_DIGITS);
      return paint();
    }
    count = "";
    event.detail.times = times;
    if (/^Shift\+(J|K|Arrow|Home|End)/.test(name)) anchor ??= current()?.dataset.turn;
    else if (/^(j|k|Arrow.*|Home|End)$/.test(name)) anchor = null;
    else if (name === "d" && (times > 1 || range().length > 1)) {
      event.preventDefault();
      const shown = items().filter((item) => !item.hidden);
      if (!$("#range-form button").disabled) drop(times > 1 ? shown.slice(shown.indexOf(current())).slice(0, times) : range());
    } else if (name === "." || name === ",") {
      event.preventDefault();
      toCheck(name === "." ? 1 : -1);
    }
    queueMicrotask(paint); // when the step was made
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && (anchor || count) && !event.target.matches("input, textarea, select")) forget();
    if (event.key === "Enter" && event.target.id === "film-search") {
      event.preventDefault();
      items().find((item) => !item.hidden)?.querySelector(".row").click();
      event.target.blur();
    }
  });

  /** The next turn, or the one before, that has something to check; round the end. */
  function toCheck(by) {
    const all = items().filter((item) => !item.hidden), index = all.indexOf(current());
    const around = [...all.slice(index + 1), ...all.slice(0, Math.max(index, 0))];
    const nextItem = (by > 0 ? around : around.reverse()).find((item) => item.querySelector(".flag-check"));
    anchor = null;
    nextItem?.querySelector(".row").click();
  }

  // ---- Filter ------------------------------------------------------------------------------------------------------

  let unfolded = []; // visits that were unfolded for their hits

  /** Show the visits that have hits, unfolded; without words all, as they were before. */
  function showVisits(isFiltered) {
    for (const visit of document.querySelectorAll("#turns details")) {
      visit.parentElement.hidden = !visit.querySelector("[data-turn]:not([hidden])");
      if (!isFiltered || visit.open || visit.parentElement.hidden) continue;
      visit.open = true;
      unfolded.push(visit);
    }
    if (isFiltered) return;
    for (const visit of unfolded) visit.open = visit.contains(current());
    unfolded = [];
  }

  function filter() {
    const words = plain(sought).split(/\s+/).filter(Boolean);
    let hits = 0;
    for (const item of items()) {
      const text = words.length ? plain(item.textContent) : "";
      item.hidden = !words.every((word) => text.includes(word));
      hits += item.hidden ? 0 : 1;
    }
    showVisits(words.length > 0);
    $("#film-none").hidden = hits > 0 || !words.length;
    paint();
  }

  document.addEventListener("input", ({ target }) => {
    if (target.id !== "film-search") return;
    sought = target.value;
    filter();
  });

  document.addEventListener("htmx:after:swap", () => {
    const field = $("#film-search");
    if (document.activeElement !== field) field.value = sought;
    filter();
  });

  sought = $("#film-search").value; // a browser brings back what stood there
  filter();
})();
