// What a step of the tour tells of is in sight, where the window is too small to show all parts at once.
"use strict";

addEventListener("load", () => {
  const selectors = { turns: ".film", picture: ".stage", turn: ".editor", bar: ".actions" };
  document.querySelector(selectors[document.getElementById("tour").dataset.area])?.scrollIntoView({ block: "nearest" });
});
