// Keys of the pages around the review page, and ticking a whole page of the list.
"use strict";

(() => {
  document.addEventListener("change", ({ target }) => {
    if (!target.dataset.all) return;
    for (const box of document.getElementsByName(target.dataset.all)) box.checked = target.checked;
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.repeat) return;
    if (event.target.matches("input:not([type=checkbox]), select, textarea")) return;
    if (localStorage.getItem("demotape-keys-off")) return;
    const control = document.querySelector(`[data-key="${CSS.escape(event.key)}"]:not(:disabled)`);
    if (!control) return;
    event.preventDefault();
    if (control.matches("input")) control.focus();
    else control.click();
  });
})();
