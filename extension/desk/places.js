// Where in a page something is secret, in the top document's coordinates. Pure; the same rules as recorder/building/frame_merging.py.

const key = (path) => path.join("/");

/** The entry of a frame in the island that holds it; null when that has not been told. */
function frameOf(path, islands) {
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const above = islands.get(key(path.slice(0, depth)));
    if (above) return above.frames.find((frame) => frame.index === path[depth]) ?? null;
  }
  return null;
}

function place(box, path, islands) {
  let { x, y, width, height } = box;
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const frame = frameOf(path.slice(0, depth + 1), islands);
    if (!frame) continue;
    x = x * frame.scaleX + frame.x;
    y = y * frame.scaleY + frame.y;
    width *= frame.scaleX;
    height *= frame.scaleY;
  }
  return { x, y, width, height };
}

/** What the islands of one page have told last: path, frames and secrets of each. */
export class Islands {
  #islands = new Map();

  clear() {
    this.#islands.clear();
  }

  take(path, { frames, secrets }) {
    this.#islands.set(key(path), { path, frames, secrets });
  }

  /** Whether the top document has told. */
  get told() {
    return this.#islands.has("");
  }

  /** Boxes of all secret fields in sight. */
  secrets() {
    return [...this.#islands.values()].flatMap(({ path, secrets }) => secrets.map((box) => place(box, path, this.#islands)));
  }
}
