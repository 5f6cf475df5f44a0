// Turns in the strip: several of them at once, a number before a key, which are shown, and the next one to check.
"use strict";

(() => {
  if (!document.querySelector("#film-search")) return; // there are no turns
  const $ = (selector) => document.querySelector(selector);
  const current = () => turnList.indexOf(turnList.current);
  const COUNT_DIGITS = 3;
  let anchor = null; // id of the turn at which the range begins; it ends at the current one
  let count = ""; // digits that were pressed, for the key after them
  let sought = ""; // what is typed in the filter

  // ---- Ranges ------------------------------------------------------------------------------------------------------

  /** Indexes of the turns from the anchor to the current one that are shown; none where no range was begun. */
  function range() {
    const ends = [turnList.indexOf(anchor), current()];
    if (ends.includes(-1)) return [];
    return turnList.shownIndexes().filter((index) => index >= Math.min(...ends) && index <= Math.max(...ends));
  }

  /** Mark the range, and say what can be done with it. */
  function paint() {
    const chosen = anchor === null ? [] : range(), several = chosen.length > 1, inRange = new Set(several ? chosen : []);
    for (const item of turnList.items()) item.classList.toggle("in-range", inRange.has(turnList.indexOf(item.dataset.turn)));
    $("#range-form").classList.toggle("several", several);
    $("#range-count").textContent = several ? $("#range-count").dataset.several.replace("{count}", chosen.length) : count;
    const word = $("#range-form .word");
    word.textContent = allDropped(chosen) ? word.dataset.restore : word.dataset.drop;
  }

  const allDropped = (chosen) => chosen.every((index) => turnList.at(index).isDropped);

  /** Drop these turns, or restore them where all are dropped. */
  function drop(chosen) {
    const form = $("#range-form");
    form.elements.op.value = allDropped(chosen) ? "restore" : "drop";
    form.elements.selected.value = turnList.current;
    for (const old of form.querySelectorAll("[name=turns]")) old.remove();
    form.append(...chosen.map((index) => Object.assign(document.createElement("input"), {
      type: "hidden", name: "turns", value: turnList.at(index).id,
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
    anchor ??= turnList.current;
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
    if (/^Shift\+(J|K|Arrow|Home|End)/.test(name)) anchor ??= turnList.current;
    else if (/^(j|k|Arrow.*|Home|End)$/.test(name)) anchor = null;
    else if (name === "d" && (times > 1 || range().length > 1)) {
      event.preventDefault();
      const shown = turnList.shownIndexes();
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
      const [first] = turnList.shownIndexes();
      if (first !== undefined) turnList.go(first);
      event.target.blur();
    }
  });

  /** The next turn, or the one before, that has something to check; round the end. */
  function toCheck(by) {
    const all = turnList.shownIndexes(), at = all.indexOf(current());
    const around = [...all.slice(at + 1), ...all.slice(0, Math.max(at, 0))];
    const next = (by > 0 ? around : around.reverse()).find((index) => turnList.at(index).hasCheck);
    anchor = null;
    if (next !== undefined) turnList.go(next);
  }

  // ---- Filter ------------------------------------------------------------------------------------------------------

  /** Show the turns that have all words, their visits unfolded; without words all, as they were before. */
  function filter() {
    const words = plain(sought).split(/\s+/).filter(Boolean), all = Array.from({ length: turnList.length }, (_item, index) => index);
    const hits = words.length ? all.filter((index) => words.every((word) => turnList.plainOf(index).includes(word))) : null;
    turnList.setHits(hits);
    $("#film-none").hidden = !hits || hits.length > 0;
    paint();
  }

  document.addEventListener("input", ({ target }) => {
    if (target.id !== "film-search") return;
    sought = target.value;
    if (turnList.isWindowed()) $(".film").scrollTop = 0; // what was there is somewhere else among the hits
    filter();
  });

  document.addEventListener("htmx:after:swap", () => {
    const field = $("#film-search");
    if (document.activeElement !== field) field.value = sought;
    filter();
  });

  document.addEventListener("turns:changed", filter);
  document.addEventListener("turns:rendered", paint);

  sought = $("#film-search").value; // a browser brings back what stood there
  filter();
})();
