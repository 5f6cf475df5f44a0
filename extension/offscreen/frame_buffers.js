// Memory of frames, used again and again: at 30 frames a second new memory would be collected too late, by gigabytes.

const MAX_FREE = 2; // free buffers that are kept, of the size that was used last

let free = [];

/** Memory of a size in bytes; its content is undefined. */
export function takeBuffer(size) {
  if (free.length && free[0].byteLength !== size) free = [];
  return free.pop() ?? new Uint8Array(size);
}

/** Memory that nothing refers to any more. */
export function releaseBuffer(bytes) {
  if (free.length && free[0].byteLength !== bytes.byteLength) free = [];
  if (free.length < MAX_FREE && !free.includes(bytes)) free.push(bytes);
}
