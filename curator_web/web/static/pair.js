// Keys of comparing two annotations: j and k go from difference to difference, 1 and 2 choose and go on.
"use strict";

(() => {
  const all = [...document.querySelectorAll("[data-difference]")];
  const STEPS = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

  /** The one that has the focus, else the first that is not chosen yet. */
  function current() {
    const open = all.findIndex((row) => !row.querySelector(":checked"));
    const focused = all.indexOf(document.activeElement.closest("[data-difference]"));
    return focused >= 0 ? focused : Math.max(open, 0);
  }

  function go(index) {
    const next = all[Math.min(Math.max(index, 0), all.length - 1)];
    next?.querySelector("input:checked, input:not(:disabled), h3")?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    const name = keyOf(event);
    if (isCommand(event) || event.isComposing || !all.length) return;
    if (localStorage.getItem("demotape-keys-off")) return;
    const index = current(), focused = document.activeElement.closest("[data-difference]");
    if (name in STEPS) go(focused ? index + STEPS[name] : index);
    else if (name === "1" || name === "2") {
      const choice = all[index].querySelector(`input[aria-keyshortcuts="${name}"]:not(:disabled)`);
      if (!choice) return;
      choice.checked = true;
      go(index + 1);
    } else return;
    event.preventDefault();
  });
})();
