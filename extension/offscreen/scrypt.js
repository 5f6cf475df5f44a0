// scrypt (RFC 7914) with one lane: the browser has only PBKDF2, of which scrypt is made. A digest of it needs memory, so
// that guessing is dear on special hardware, too.
const WORDS = 16; // 32-bit numbers in a block of Salsa20
const DOUBLE_ROUNDS = 4; // of Salsa20/8

/**
 * The digest of a value: `length` bytes. `cost` (a power of two) times `blockSize` times 128 bytes of memory.
 * @param {Uint8Array} content @param {Uint8Array} salt @param {number} cost @param {number} blockSize
 * @param {number} length @returns {Promise<Uint8Array>}
 */
export async function scrypt(content, salt, cost, blockSize, length) {
  const mixed = mixInMemory(await pbkdf2(content, salt, 128 * blockSize), cost, blockSize);
  return pbkdf2(content, mixed, length);
}

async function pbkdf2(content, salt, length) {
  const key = await crypto.subtle.importKey("raw", content, "PBKDF2", false, ["deriveBits"]);
  return new Uint8Array(await crypto.subtle.deriveBits(
    { name: "PBKDF2", hash: "SHA-256", salt, iterations: 1 }, key, 8 * length));
}

/** scryptROMix. */
function mixInMemory(bytes, cost, blockSize) {
  const size = 2 * WORDS * blockSize, view = new DataView(bytes.buffer);
  const state = Uint32Array.from({ length: size }, (_, index) => view.getUint32(4 * index, true));
  const memory = new Uint32Array(cost * size), result = new Uint32Array(size);
  for (let row = 0; row < cost; row++) {
    memory.set(state, row * size);
    mixBlocks(state, result);
  }
  for (let row = 0; row < cost; row++) {
    const start = (state[size - WORDS] & (cost - 1)) * size;
    for (let index = 0; index < size; index++) state[index] ^= memory[start + index];
    mixBlocks(state, result);
  }
  state.forEach((word, index) => view.setUint32(4 * index, word, true));
  return bytes;
}

/** scryptBlockMix in place; `result` is room for it. */
function mixBlocks(state, result) {
  const block = state.slice(state.length - WORDS), blocks = state.length / WORDS;
  for (let number = 0; number < blocks; number++) {
    for (let index = 0; index < WORDS; index++) block[index] ^= state[number * WORDS + index];
    salsa(block);
    result.set(block, ((number >> 1) + (number & 1 ? blocks / 2 : 0)) * WORDS);
  }
  state.set(result);
}

const scratch = new Uint32Array(WORDS);

/** The Salsa20/8 core in place. */
function salsa(block) {
  const x = scratch;
  x.set(block);
  for (let round = 0; round < DOUBLE_ROUNDS; round++) {
    quarter(x, 0, 4, 8, 12); quarter(x, 5, 9, 13, 1); quarter(x, 10, 14, 2, 6); quarter(x, 15, 3, 7, 11);
    quarter(x, 0, 1, 2, 3); quarter(x, 5, 6, 7, 4); quarter(x, 10, 11, 8, 9); quarter(x, 15, 12, 13, 14);
  }
  for (let index = 0; index < WORDS; index++) block[index] += x[index];
}

function quarter(x, a, b, c, d) {
  let sum = x[a] + x[d] | 0;
  x[b] ^= sum << 7 | sum >>> 25;
  sum = x[b] + x[a] | 0;
  x[c] ^= sum << 9 | sum >>> 23;
  sum = x[c] + x[b] | 0;
  x[d] ^= sum << 13 | sum >>> 19;
  sum = x[d] + x[c] | 0;
  x[a] ^= sum << 18 | sum >>> 14;
}
