// Waiting for a time.

/** A promise that is kept once so many milliseconds have passed. */
export const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
