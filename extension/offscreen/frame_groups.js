// Positions of secrets in a page, in the top document's coordinates. Pure; the same rules as
// recorder/building/frame_merging.py.

const key = (path) => path.join("/");

/** The entry of a frame in the frame group that holds it; null when that has not been told. */
function frameOf(path, groups) {
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const above = groups.get(key(path.slice(0, depth)));
    if (above) return above.frames.find((frame) => key([...frame.indices ?? [], frame.index]) === key(path.slice(depth))) ?? null;
  }
  return null;
}

function place(box, path, groups) {
  let { x, y, width, height } = box;
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const frame = frameOf(path.slice(0, depth + 1), groups);
    if (!frame) continue;
    x = x * frame.scaleX + frame.x;
    y = y * frame.scaleY + frame.y;
    width *= frame.scaleX;
    height *= frame.scaleY;
  }
  return { x, y, width, height };
}

/** What the frame groups of one page have told last: path, frames and secrets of each, and when, wall clock in seconds. */
export class FrameGroups {
  #groups = new Map();

  /** Another document is shown; frames in it may have told since it began: messages of several frames keep no order. */
  leave(began) {
    for (const [name, { path, time }] of this.#groups) if (!path.length || time < began) this.#groups.delete(name);
  }

  take(path, { frames, secrets }, time) {
    this.#groups.set(key(path), { path, frames, secrets, time });
  }

  /** Whether the top document has told. */
  get hasTop() {
    return this.#groups.has("");
  }

  /** Boxes of all secret fields in sight. */
  secrets() {
    return [...this.#groups.values()].flatMap(({ path, secrets }) => secrets.map((box) => place(box, path, this.#groups)));
  }
}
