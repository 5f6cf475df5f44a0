// The guidelines beside the work: fetched when they are asked for, shown until they are put away.
"use strict";

(() => {
  const panel = document.getElementById("guide");

  document.addEventListener("click", async (event) => {
    const link = event.target.closest("[data-guide]");
    if (event.target.closest("[data-puts-away]") || (link && !panel.hidden && !event.ctrlKey && !event.metaKey)) {
      event.preventDefault();
      panel.hidden = true;
    } else if (link && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const answer = await fetch(link.href, { headers: { "HX-Request": "true" } }).catch(() => null);
      if (!answer?.ok || answer.redirected) return location.assign(link.href);
      panel.querySelector("[data-text]").innerHTML = await answer.text();
      panel.hidden = false;
    }
  });
})();
