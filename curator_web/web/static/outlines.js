// What changed in the picture after an action is outlined, until a person puts that away.
"use strict";

(() => {
  let shown = true;

  function show() {
    document.body.classList.toggle("without-outlines", !shown);
    for (const button of document.querySelectorAll("[data-outlines]")) button.firstChild.data = shown ? button.dataset.hide : button.dataset.show;
  }

  document.addEventListener("click", ({ target }) => {
    if (!target.closest("[data-outlines]")) return;
    shown = !shown;
    show();
  });

  document.addEventListener("htmx:after:swap", show);
})();
