// Requests to the frames of a tab for the present positions of their secret fields, and the answers.
import { clock } from "./journal.js";
import { sleep } from "../sleep.js";

const POLL_MS = 10;

export class PositionRequests {
  #pending = new Map(); // tab -> { time, ports that have not answered }

  /** `ports`: port -> facts of its frame; `onConfirmed(tab, time)`: all frames have answered a request of that time. */
  constructor(ports, onConfirmed) {
    this.ports = ports;
    this.onConfirmed = onConfirmed;
  }

  /** Request the positions of all frames of a tab. */
  send(tab, time) {
    const ports = [...this.ports].filter(([, frame]) => frame.number === tab && !frame.early && !frame.resting);
    this.#pending.set(tab, { time, ports: new Set(ports.map(([port]) => port)) });
    for (const [port] of ports) port.postMessage({ tell: time });
    if (!ports.length) this.onConfirmed(tab, time); // nothing can move them
  }

  /** A frame has answered the request of a time. */
  onAnswer(port, time) {
    const { number } = this.ports.get(port) ?? {}, request = this.#pending.get(number);
    if (!request || request.time !== time) return;
    request.ports.delete(port);
    if (!request.ports.size) this.onConfirmed(number, time);
  }

  /** Request the positions of all tabs, and wait for the answers for so many milliseconds at most. */
  async finish(tabs, timeout) {
    for (const tab of tabs) this.send(tab, clock());
    const until = performance.now() + timeout;
    while ([...this.#pending.values()].some(({ ports }) => ports.size) && performance.now() < until) await sleep(POLL_MS);
  }
}
