// htmx takes up the page some time after its scripts have run; what is pressed or typed before that would be lost, or
// load a part of a page as if it were one. So it does so at once.
"use strict";

/** A text as it is searched: small letters without accents. */
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** Have the tabs of a demonstration lead to a turn, so that a page and the way back show the same one. */
function leadTabsTo(turn) {
  for (const tab of document.querySelectorAll(".page-tabs a")) {
    const address = new URL(tab.href);
    if (turn) address.searchParams.set("turn", turn);
    tab.href = address;
  }
}

htmx.process(document.body);
