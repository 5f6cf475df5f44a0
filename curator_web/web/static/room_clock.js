// The recorder's clock as this browser measures it: four times of an exchange, as in NTP. Of the latest exchanges the
// quickest counts: half of its duration is the uncertainty.
"use strict";

const roomClock = (() => {
  const MAX_EXCHANGES = 8;
  const FIRST_INTERVAL_MS = 300, INTERVAL_MS = 5000;
  const exchanges = [];

  const now = () => performance.now() / 1000;

  /** Take in an answer: `sent` by this clock, `received` and `answered` by the recorder's, in seconds. */
  function add({ sent, received, answered }) {
    const arrived = now();
    const offset = ((received - sent) + (answered - arrived)) / 2;
    exchanges.push({ offset, uncertainty: Math.max(0, arrived - sent - (answered - received)) / 2 });
    if (exchanges.length > MAX_EXCHANGES) exchanges.shift();
  }

  /** The quickest of the latest exchanges; null before the first. */
  const best = () => exchanges.reduce((quickest, exchange) =>
    quickest && quickest.uncertainty <= exchange.uncertainty ? quickest : exchange, null);

  /** A time of this clock as the recorder's; null when not known. */
  const recorded = (time) => (best() && time !== null ? Math.round((time + best().offset) * 10000) / 10000 : null);

  /** Milliseconds until the next question. */
  const pause = () => (exchanges.length < MAX_EXCHANGES / 2 ? FIRST_INTERVAL_MS : INTERVAL_MS);

  return { now, add, recorded, pause, uncertainty: () => best()?.uncertainty ?? null };
})();
