// Playing the session: the time line's cursor moves by itself, as fast as the person chose.
"use strict";

(() => {
  const cursor = document.querySelector("#cursor");
  const button = document.querySelector("#play");
  const speed = document.querySelector("#speed");
  const end = Number(cursor.max);
  const KEPT = "demotape-speed", KEYS_OFF = "demotape-keys-off";
  const STEPS = { "<": -1, ">": 1 };
  const WITH_KEYS_OF_THEIR_OWN = "input:not([type=range]), select, textarea, button, a, summary";
  let before = null; // when the cursor was moved last, milliseconds; null while nothing plays
  let moving = false;

  const storedSpeed = localStorage.getItem(KEPT);
  if ([...speed.options].some((option) => option.value === storedSpeed)) speed.value = storedSpeed;

  function show(isPlaying) {
    before = isPlaying ? performance.now() : null;
    const word = button.querySelector("span");
    word.textContent = isPlaying ? word.dataset.pause : word.dataset.play;
    if (isPlaying) requestAnimationFrame(go);
  }

  function moveTo(time) {
    moving = true;
    cursor.value = time;
    cursor.dispatchEvent(new Event("input"));
    moving = false;
  }

  function go(now) {
    if (before === null) return;
    const passed = Math.max(0, now - before) / 1000;
    before = now;
    moveTo(Number(cursor.value) + passed * Number(speed.value));
    if (Number(cursor.value) >= end) return show(false);
    requestAnimationFrame(go);
  }

  function toggle() {
    if (before === null && Number(cursor.value) >= end) moveTo(Number(cursor.min));
    show(before === null);
  }

  button.addEventListener("click", toggle);
  speed.addEventListener("change", () => localStorage.setItem(KEPT, speed.value));
  // Who takes the cursor in hand looks at a moment.
  cursor.addEventListener("input", () => { if (!moving) show(false); });
  cursor.addEventListener("keydown", ({ key }) => { if (/^(Arrow|Page|Home|End)/.test(key)) show(false); });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || localStorage.getItem(KEYS_OFF)) return;
    if (event.target.matches(WITH_KEYS_OF_THEIR_OWN)) return;
    if (event.key === " ") toggle();
    else if (event.key in STEPS) {
      const index = Math.min(Math.max(speed.selectedIndex + STEPS[event.key], 0), speed.options.length - 1);
      speed.selectedIndex = index;
      speed.dispatchEvent(new Event("change"));
    } else return;
    event.preventDefault();
  });
})();
