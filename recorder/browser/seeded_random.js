// In the page's main world, before its first instruction: Math.random continues from a recorded seed, so that a replay
// makes the same random choices. `crypto` is not changed, because keys are made with it.
((bindingName) => {
  "use strict";
  const report = globalThis[bindingName];
  delete globalThis[bindingName];
  if (typeof report !== "function") return;
  let state = crypto.getRandomValues(new Uint32Array(1))[0];
  report(String(state));
  const { imul } = Math;
  // Mulberry32; two steps make the 53 bits of a number. replay/page_clock.js has the same.
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  Math.random = new Proxy(Math.random, { apply: () => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992 });
})("NAME");
