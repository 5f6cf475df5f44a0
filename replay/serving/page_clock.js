// Put into each document that is served, before anything of its own: the clock begins when the document was recorded and
// runs, and what is random comes from the recorded seed. The capture script, in a world of its own, sees neither.
((options) => {
  "use strict";
  const { began, seed } = options;
  document.currentScript?.remove();
  const real = Date.now;
  const ahead = began - real();
  const now = () => real() + ahead;
  const Clock = new Proxy(Date, {
    construct: (target, supplied, made) => Reflect.construct(target, supplied.length ? supplied : [now()], made),
    apply: () => new Clock().toString(),
  });
  Date.now = new Proxy(real, { apply: now });
  Date.prototype.constructor = Clock;
  globalThis.Date = Clock;

  const { imul } = Math;
  // Mulberry32, as in recorder/browser/seeded_random.js.
  const drawing = (from) => {
    let state = from;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61);
      return (mixed ^ (mixed >>> 14)) >>> 0;
    };
  };
  const next = drawing(seed), word = drawing(seed ^ 0x5bd1e995);
  Math.random = new Proxy(Math.random, { apply: () => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992 });
  const source = Crypto.prototype;
  const { getRandomValues, randomUUID } = source;
  source.getRandomValues = new Proxy(getRandomValues, {
    apply(target, self, supplied) {
      const filled = Reflect.apply(target, self, supplied); // which refuses what it should
      const bytes = new Uint8Array(filled.buffer, filled.byteOffset, filled.byteLength);
      for (let index = 0; index < bytes.length; index++) bytes[index] = word();
      return filled;
    },
  });
  if (randomUUID) source.randomUUID = new Proxy(randomUUID, {
    apply(_target, self) {
      const bytes = self.getRandomValues(new Uint8Array(16));
      bytes[6] = (bytes[6] & 15) | 64;
      bytes[8] = (bytes[8] & 63) | 128;
      const text = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
      return text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    },
  });
})
