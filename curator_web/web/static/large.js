// The screenshot large: as wide as the window, then twice as wide, then as before.
"use strict";

(() => {
  const SIZES = ["", "is-large", "is-double"];
  let size = 0;

  function show(wanted) {
    size = wanted % SIZES.length;
    document.body.classList.remove(...SIZES.filter(Boolean));
    if (size) document.body.classList.add(SIZES[size]);
    lookAt();
  }

  /** What the turn acted on is in sight, where not all of the picture is. */
  function lookAt() {
    if (size) document.querySelector("#overlay :is(.box, .pointer)")?.scrollIntoView({ block: "center", inline: "center" });
  }

  document.addEventListener("click", ({ target }) => {
    if (target.closest("[data-enlarges]")) show(size + 1);
  });

  document.addEventListener("film:key", ({ detail }) => {
    if (size && detail.name && "emoi".includes(detail.name)) show(0); // these lead to what stands beside the picture
  });

  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && !document.querySelector("dialog[open], #turn [data-back]")) show(0);
  });

  document.addEventListener("htmx:after:swap", lookAt);
})();
