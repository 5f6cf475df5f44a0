// The button that prints the page.
"use strict";

document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-prints]")) window.print();
});
