// Inserts the uids of elements into plain texts; the same rule as `numbered` in recorder/building/frame_merging.py.
import "../shared.js";

const { uid_attribute: UID } = globalThis.demotapeShared;
const SERIALIZED = /\u0003([\d+,]+)\u0003([^\u0003]*)\u0003/g;

/** A chunk's text, each of whose plain texts stands between marks behind the numbers of its elements: "first+count,…". */
export function numbered(text, frameGroup) {
  return text.replace(SERIALIZED, (_, runs, serialized) => {
    const numbers = runs.split(",").flatMap((run) => {
      const [first, count] = run.split("+").map(Number);
      return Array.from({ length: count }, (_, index) => first + index);
    });
    let at = 0;
    return serialized.replace(/<[a-zA-Z][^\s/>]*/g, (tag) => `${tag} ${UID}="${frameGroup}-${numbers[at++]}"`);
  });
}
