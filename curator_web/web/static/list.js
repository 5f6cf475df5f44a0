// Keys of the pages around the review page, and ticking a whole page of the list.
"use strict";

(() => {
  document.addEventListener("change", ({ target }) => {
    if (target.dataset.all) for (const box of document.getElementsByName(target.dataset.all)) box.checked = target.checked;
    // Nobody sees what is found on other pages: it stays chosen only while all of this page is.
    const chooseAll = document.querySelector('.choose-all [name="all"]');
    if (chooseAll && !target.checked && (target.name === "id" || target.dataset.all)) chooseAll.checked = false;
  });

  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-expands]");
    if (button) button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") !== "true"));
  });

  const STEPS = { j: 1, k: -1 };

  /** From demonstration to demonstration; Enter opens the one that has the focus. */
  function step(by) {
    const links = [...document.querySelectorAll("a.task")], row = document.activeElement.closest("tr");
    const index = links.findIndex((link) => link.closest("tr") === row);
    const next = links[Math.min(Math.max(index + by, 0), links.length - 1)];
    next?.focus();
    return Boolean(next);
  }

  document.addEventListener("keydown", (event) => {
    const name = keyOf(event);
    if (isCommand(event) || event.isComposing || (event.repeat && !(name in STEPS))) return;
    if (event.target.matches("input:not([type=checkbox], [type=radio]), select, textarea")) return;
    if (localStorage.getItem("demotape-keys-off")) return;
    if (name in STEPS && step(STEPS[name])) return event.preventDefault();
    const control = document.querySelector(`[data-key="${CSS.escape(name)}"]:not(:disabled)`);
    if (!control) return;
    event.preventDefault();
    if (control.matches("input")) control.focus();
    else control.click();
  });
})();
