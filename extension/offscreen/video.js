// Encodes the frames of the active tab as VP8 packets with their true times, in segments of a few seconds.

const FRAME_INTERVAL_S = 0.07; // seconds between frames of a page that paints all the time
const SEGMENT_S = 2; // seconds
const KEY_INTERVAL_S = 5; // seconds
const BITS_PER_S = 3_000_000; // a second
const MAX_PIXELS = 1920 * 1080; // of the video; larger frames are reduced
const MAX_QUEUED = 2; // frames that wait for the encoder; while there are as many, frames are left out

export class Video {
  #encoder = null;
  #packets = [];
  #parts = [];
  #last = -Infinity;
  #lastKey = -Infinity;
  #size = null;
  #canvas = null; // on which frames of another size are drawn

  /** `onSegment` takes { packets: [[time, bytes, key]…], width, height } and the packets' bytes one after the other. */
  constructor(onSegment) {
    this.onSegment = onSegment;
  }

  /** Whether a frame is to be in the video: it was seen for a while, or the last one is long ago. */
  wants = (time, next) => time > this.#last && next - this.#last >= FRAME_INTERVAL_S && !this.isBehind;

  /** Whether the encoder does not keep up. */
  get isBehind() {
    return (this.#encoder?.encodeQueueSize ?? 0) >= MAX_QUEUED;
  }

  /** Take a frame and close it. Its timestamp is wall clock in microseconds. The first one fixes the size. */
  add(frame) {
    const time = frame.timestamp / 1e6;
    if (!this.#encoder) this.#open(frame);
    const fitted = this.#fitted(frame);
    const keyFrame = time - this.#lastKey >= KEY_INTERVAL_S;
    if (keyFrame) this.#lastKey = time;
    this.#last = time;
    this.#encoder.encode(fitted, { keyFrame });
    fitted.close();
  }

  /** What comes next does not follow from what was before. */
  cut() {
    this.#lastKey = -Infinity;
  }

  /** Wait until the encoder has caught up. */
  flush = async () => void (await this.#encoder?.flush());

  async finish() {
    if (!this.#encoder) return;
    await this.#encoder.flush();
    this.#encoder.close();
    this.#encoder = null;
    this.#send();
    this.cut();
    this.#last = -Infinity;
  }

  #open({ codedWidth, codedHeight }) {
    const reduced = Math.min(1, Math.sqrt(MAX_PIXELS / (codedWidth * codedHeight)));
    const [width, height] = [codedWidth, codedHeight].map((side) => Math.floor((side * reduced) / 2) * 2);
    this.#size = { width, height };
    this.#encoder = new VideoEncoder({ output: (packet) => this.#addPacket(packet), error: () => (this.#encoder = null) });
    this.#encoder.configure({ codec: "vp8", width, height, bitrate: BITS_PER_S, latencyMode: "realtime" });
    this.cut();
  }

  #fitted(frame) {
    const { width, height } = this.#size;
    const isSameShape = Math.abs(frame.codedWidth * height - frame.codedHeight * width) <= 2 * Math.max(frame.codedWidth, frame.codedHeight);
    if (isSameShape) return frame; // the encoder reduces it
    const canvas = (this.#canvas ??= new OffscreenCanvas(width, height));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const scale = Math.min(width / frame.codedWidth, height / frame.codedHeight);
    const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    context.fillRect(0, 0, width, height);
    context.drawImage(frame, 0, 0, frame.codedWidth * scale, frame.codedHeight * scale);
    const fitted = new VideoFrame(canvas, { timestamp: frame.timestamp });
    frame.close();
    return fitted;
  }

  #addPacket(packet) {
    const bytes = new Uint8Array(packet.byteLength);
    packet.copyTo(bytes);
    this.#packets.push([packet.timestamp / 1e6, bytes.length, packet.type === "key"]);
    this.#parts.push(bytes);
    if (packet.timestamp / 1e6 - this.#packets[0][0] >= SEGMENT_S) this.#send();
  }

  #send() {
    if (!this.#packets.length) return;
    const bytes = new Uint8Array(this.#parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
    }
    this.onSegment({ packets: this.#packets, ...this.#size }, bytes.buffer);
    this.#packets = [];
    this.#parts = [];
  }
}
