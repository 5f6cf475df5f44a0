// Frames as bytes: copied from the stream, blackened at secrets, converted back.
import { takeBuffer } from "./frame_buffers.js";

const MARGIN = 3; // CSS pixels around a secret field that are blackened too

/** A frame of the stream, in memory of its own: the stream has only a few frames to lend. */
export async function copyOf(frame) {
  const { width, height } = frame.visibleRect;
  const bytes = takeBuffer(frame.allocationSize());
  const layout = await frame.copyTo(bytes);
  return { bytes, layout, format: frame.format, width, height, colorSpace: frame.colorSpace };
}

/** A picture (of captureVisibleTab) as such a frame. */
export async function decoded(blob) {
  const picture = await createImageBitmap(blob);
  const frame = new VideoFrame(picture, { timestamp: 0 });
  picture.close();
  try {
    return await copyOf(frame);
  } finally {
    frame.close();
  }
}

/** The copy with boxes (CSS pixels) blackened, in memory of its own; the same where there are none. `scale` is device pixels per CSS pixel. */
export function blackened(copy, boxes, scale) {
  if (!boxes.length) return copy;
  const bytes = takeBuffer(copy.bytes.byteLength);
  bytes.set(copy.bytes);
  for (const box of boxes) {
    const left = even(Math.max(0, (box.x - MARGIN) * scale), copy.width);
    const top = even(Math.max(0, (box.y - MARGIN) * scale), copy.height);
    const right = even(Math.max(0, (box.x + box.width + MARGIN) * scale + 1), copy.width);
    const bottom = even(Math.max(0, (box.y + box.height + MARGIN) * scale + 1), copy.height);
    planesOf(copy.format).forEach(({ perPixel, share, black }, plane) => {
      const { offset, stride } = copy.layout[plane];
      for (let y = Math.floor(top / share); y < Math.ceil(bottom / share); y++) {
        const row = offset + y * stride;
        const from = row + Math.floor(left / share) * perPixel, to = row + Math.ceil(right / share) * perPixel;
        if (black.length === 1) bytes.fill(black[0], from, to);
        else for (let at = from; at < to; at++) bytes[at] = black[(at - row) % black.length];
      }
    });
  }
  return { ...copy, bytes };
}

const even = (value, limit) => Math.min(limit, Math.floor(value / 2) * 2);

/** Planes of a pixel format (WebCodecs, section 9.8): bytes a sample, how many pixels it stands for each way, black. */
function planesOf(format) {
  if (format?.startsWith("I420")) {
    const chroma = { perPixel: 1, share: 2, black: [128] };
    return [{ perPixel: 1, share: 1, black: [16] }, chroma, chroma];
  }
  if (format === "NV12") return [{ perPixel: 1, share: 1, black: [16] }, { perPixel: 2, share: 2, black: [128, 128] }];
  return [{ perPixel: 4, share: 1, black: [0, 0, 0, 255] }]; // RGBA, BGRA and those without alpha
}

// Without a graphics card Chrome makes the frames by ITU-R BT.601 and says that it was BT.709; with one it says the truth.
const BT601 = { matrix: "smpte170m", primaries: "bt709", transfer: "bt709", fullRange: false };
let colours = null; // what the frames truly are, once that is known
const likelyColours = paintsInSoftware() ? BT601 : null; // until then
const COMPARED = { width: 64, height: 36 }; // pixels
const TELLING = 200; // difference of the two readings, over all pixels, from which they can be told apart

const UNLIKE = 60_000; // difference from which the two are not of the same moment

/** Whether Chrome paints without a graphics card, as far as a page can see. */
function paintsInSoftware() {
  const context = new OffscreenCanvas(1, 1).getContext("webgl");
  const { UNMASKED_RENDERER_WEBGL } = context?.getExtension("WEBGL_debug_renderer_info") ?? {};
  return !context || /swiftshader|llvmpipe|software/i.test(context.getParameter(UNMASKED_RENDERER_WEBGL ?? context.RENDERER));
}

/** Learn from a true picture of the same moment how to read the colours of frames; returns whether it could be told. */
export async function learnColours(copy, blob) {
  const picture = await createImageBitmap(blob);
  const truth = smallOf(picture);
  picture.close();
  const differences = [];
  for (const colorSpace of [copy.colorSpace, BT601]) {
    const small = smallOf(await drawn({ ...copy, colorSpace }, colorSpace));
    differences.push(small.reduce((sum, value, index) => sum + Math.abs(value - truth[index]), 0));
  }
  const [declared, other] = differences;
  if (Math.abs(declared - other) < TELLING || Math.min(declared, other) > UNLIKE) return false;
  colours = other < declared ? BT601 : copy.colorSpace;
  return true;
}

const smallCanvas = new OffscreenCanvas(1, 1);

function smallOf(image) {
  const { width, height } = COMPARED;
  if (smallCanvas.width !== width) Object.assign(smallCanvas, { width, height });
  const context = smallCanvas.getContext("2d", { alpha: false, willReadFrequently: true });
  context.drawImage(image, 0, 0, width, height);
  return context.getImageData(0, 0, width, height).data;
}

/** The copy as a VideoFrame; to be closed. */
export function shown(copy, timestamp = 0, colorSpace = colours ?? likelyColours ?? copy.colorSpace) {
  return new VideoFrame(copy.bytes, {
    format: copy.format, codedWidth: copy.width, codedHeight: copy.height, layout: copy.layout, timestamp,
    colorSpace: /^(I420|NV12)/.test(copy.format) ? colorSpace : copy.colorSpace,
  });
}

const pictureCanvas = new OffscreenCanvas(1, 1), thumbnailCanvas = new OffscreenCanvas(1, 1); // used for every picture
const STRIP_ROWS = 256; // rows that are converted at a time
let strip = null; // memory of such rows, used again
const RGBA = { format: "RGBA", colorSpace: "srgb" };

/**
 * The copy on a canvas of its size. The frame is converted in memory: one that is drawn leaves as much shared memory
 * behind as it has pixels, until garbage is collected.
 */
export async function drawn(copy, colorSpace = undefined) {
  const { width, height } = copy, canvas = pictureCanvas;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true }), frame = shown(copy, 0, colorSpace);
  if (frame.allocationSize(/** @type {any} */ (RGBA)) === width * height * RGBA.format.length) {
    for (let y = 0; y < height; y += STRIP_ROWS) {
      const rows = Math.min(STRIP_ROWS, height - y);
      if (strip?.width !== width || strip.height !== rows) strip = new ImageData(width, rows);
      await frame.copyTo(strip.data, /** @type {any} */ ({ ...RGBA, rect: { x: 0, y, width, height: rows } }));
      context.putImageData(strip, 0, y);
    }
  } else context.drawImage(frame, 0, 0); // before Chrome 127
  frame.close();
  return canvas;
}

/** The copy as PNG bytes. */
export const png = async (copy) => (await (await drawn(copy)).convertToBlob({ type: "image/png" })).arrayBuffer();

/** A small picture of it, for the panel. */
export async function thumbnail(copy, width) {
  const height = Math.max(1, Math.round((copy.height * width) / copy.width));
  Object.assign(thumbnailCanvas, { width, height });
  thumbnailCanvas.getContext("2d", { alpha: false, willReadFrequently: true }).drawImage(pictureCanvas, 0, 0, width, height);
  const bytes = new Uint8Array(await (await thumbnailCanvas.convertToBlob({ type: "image/webp", quality: 0.7 })).arrayBuffer());
  return `data:image/webp;base64,${btoa(String.fromCharCode(...bytes))}`;
}
