// What a step of the tour tells of is in sight, where the window is too small to show all parts at once.
"use strict";

addEventListener("load", () => {
  const told = { turns: ".film", picture: ".stage", turn: ".editor", bar: ".actions" };
  document.querySelector(told[document.getElementById("tour").dataset.area])?.scrollIntoView({ block: "nearest" });
});
