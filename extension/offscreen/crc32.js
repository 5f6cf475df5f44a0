// CRC-32 of zip files (ISO 3309), four bytes at a step.

const TABLES = [new Uint32Array(256), new Uint32Array(256), new Uint32Array(256), new Uint32Array(256)];
for (let byte = 0; byte < 256; byte++) {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  TABLES[0][byte] = value;
}
for (let byte = 0; byte < 256; byte++) {
  for (let step = 1; step < 4; step++) {
    const before = TABLES[step - 1][byte];
    TABLES[step][byte] = (before >>> 8) ^ TABLES[0][before & 255];
  }
}

/** @param {Uint8Array} bytes */
export function crc32(bytes) {
  const [zero, one, two, three] = TABLES;
  let value = 0xffffffff, at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    value ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    value = three[value & 255] ^ two[(value >>> 8) & 255] ^ one[(value >>> 16) & 255] ^ zero[value >>> 24];
  }
  for (; at < bytes.length; at++) value = (value >>> 8) ^ zero[(value ^ bytes[at]) & 255];
  return (value ^ 0xffffffff) >>> 0;
}
