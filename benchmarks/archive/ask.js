// What the page and its workers do: ask for what was planned, and say what they saw.
"use strict";
const digest = (bytes) => {
  let sum = 7;
  for (let index = 0; index < bytes.length; index++) sum = (Math.imul(sum, 31) + bytes[index]) >>> 0;
  return `${bytes.length}:${sum}`;
};
const ofText = (text) => digest(Uint16Array.from({ length: text.length }, (_, index) => text.charCodeAt(index)));
const fill = (size, number) => Uint8Array.from({ length: size }, (_, index) => (index * 7 + number) % 256);
const letters = (size) => "Grüße 😀 and more; ".repeat(Math.ceil(size / 18)).slice(0, size);

async function bodyOf(item) {
  const { sent, size, number } = item;
  switch (sent) {
    case "": return undefined;
    case "text": return letters(size);
    case "half": return `half \ud83d ${letters(size)}`;
    case "empty": return "";
    case "json": return JSON.stringify({ text: letters(size), more: [1, null, true] });
    case "blob": return new Blob([fill(size, number)]);
    case "typed blob": return new Blob([fill(size, number)], { type: "text/plain" });
    case "buffer": return fill(size, number).buffer;
    case "view": return new Uint16Array(fill(2 * size, number).buffer);
    case "urlencoded": return new URLSearchParams({ a: letters(size), b: "x y&z=\u00fc" });
    case "canvas": {
      const canvas = new OffscreenCanvas(40, 30);
      canvas.getContext("2d").fillRect(0, 0, number % 40, 20);
      return canvas.convertToBlob();
    }
    case "disk file": return document.querySelector("#disk").files[0];
    case "sliced disk file": return document.querySelector("#disk").files[0].slice(3, 500);
  }
  const form = new FormData();
  form.append("text", letters(Math.min(size, 3000)));
  if (sent === "file") form.append("upload", new File([fill(size, number)], "ü \"x\".bin", { type: "image/x" }));
  if (sent === "disk form") form.append("upload", document.querySelector("#disk").files[0]);
  return form;
}

const note = (number) => fetch(`/seen/${number}`, { method: "POST", cache: "no-store" }).catch(() => 0);

async function readStream(item, response, stop) {
  const reader = response.body.getReader(), parts = [];
  let size = 0, ended = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) { ended = "whole"; break; }
      for (const byte of value) parts.push(byte);
      size += value.length;
      if (item.ending !== "whole" && size >= item.came) {
        if (item.ending === "cut") await note(item.number);
        else if (item.ending === "stopped") { stop(); ended = "stopped"; break; }
        else { reader.read().catch(() => 0); ended = "open"; break; }
      }
    }
  } catch (error) { ended = error.name; }
  return `${digest(parts)} ${ended}`;
}

async function byFetch(item) {
  const { extra } = item, stopping = new AbortController();
  const options = {
    method: item.method, body: await bodyOf(item), signal: stopping.signal, headers: extra.headers,
    mode: extra.mode === "no-cors" ? "no-cors" : "cors", keepalive: extra.mode === "keepalive",
    credentials: extra.mode === "credentials" ? "include" : "same-origin", cache: extra.cache,
  };
  if (item.kind === "event stream") options.headers = { Accept: "text/event-stream" };
  let said = "";
  for (let time = 0; time < (extra.times ?? 1); time++) {
    if (time === 0) delete options.cache; else options.cache = extra.cache;
    const response = await fetch(item.url, options);
    said += `${response.status} ${response.statusText} `;
    switch (item.read) {
      case "none": break;
      case "cancel": await response.body?.cancel(); break;
      case "text": said += ofText(await response.text()); break;
      case "blob": { const blob = await response.blob(); said += digest(new Uint8Array(await blob.arrayBuffer())); break; }
      case "clone": said += digest(new Uint8Array(await response.clone().arrayBuffer()));
        await response.arrayBuffer(); break;
      case "stream": said += response.body ? await readStream(item, response, () => stopping.abort()) : "none"; break;
      default: said += digest(new Uint8Array(await response.arrayBuffer()));
    }
  }
  return said;
}

const byXhr = (item) => new Promise((resolve) => {
  bodyOf(item).then((body) => {
    const request = new XMLHttpRequest(), ends = item.ending !== "whole";
    request.open(item.method, item.url);
    for (const [name, value] of Object.entries(item.extra.headers ?? {})) request.setRequestHeader(name, value);
    const types = { text: "text", blob: "blob" };
    if (ends) request.overrideMimeType("text/plain; charset=x-user-defined");
    else request.responseType = types[item.read] ?? "arraybuffer";
    let done = false;
    const look = () => {
      if (!ends || done || request.readyState < 3 || request.responseText.length < item.came) return;
      done = true;
      const said = ofText(request.responseText);
      if (item.ending === "cut") note(item.number);
      else { if (item.ending === "stopped") request.abort(); resolve(`${said} ${item.ending}`); }
    };
    request.onprogress = request.onreadystatechange = look;
    const looking = ends && setInterval(look, 50); // progress is not reported of a short beginning
    request.onloadend = () => clearInterval(looking);
    request.onerror = () => resolve("error");
    request.onload = async () => {
      const got = request.response;
      if (typeof got === "string") resolve(`${request.status} ${request.statusText} ${ofText(got)}`);
      else if (got === null) resolve(`${request.status} null`);
      else resolve(`${request.status} ${request.statusText} ` + digest(new Uint8Array(
        got instanceof Blob ? await got.arrayBuffer() : got)));
    };
    request.send(body);
  });
});

const byEvents = (item) => new Promise((resolve) => {
  const source = new EventSource(item.url), said = [];
  const onEvent = ({ type, data, lastEventId }) => {
    said.push([type, data, lastEventId]);
    if (said.length === item.extra.count) end();
  };
  const end = () => { if (item.ending === "stopped") source.close(); resolve(JSON.stringify(said)); };
  for (const name of ["message", "tick", "größe"]) source.addEventListener(name, onEvent);
  source.onopen = () => { if (!item.extra.count) end(); };
  source.onerror = () => { said.push(["error"]); source.close(); resolve(JSON.stringify(said)); };
});

const bytesOf = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const bySocket = (item) => new Promise((resolve) => {
  const { extra } = item, said = [];
  const socket = new WebSocket(item.socketUrl, extra.offered);
  let next = 0, id = 0;
  socket.binaryType = "arraybuffer";
  const step = () => {
    const message = extra.messages[next];
    if (message?.rpc) {
      id = Math.floor(performance.now() * 1000); // which is another one when it is served again
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, method: message.rpc, params: [next] }));
    } else if (message?.echo) socket.send(message.text ?? bytesOf(message.hex));
    else if (message) return;
    else if (extra.closed === "page") extra.code ? socket.close(extra.code, extra.why) : socket.close();
    else if (extra.closed === "open") resolve(JSON.stringify(said));
  };
  socket.onopen = () => { said.push(["protocol", socket.protocol]); step(); };
  socket.onmessage = ({ data }) => {
    if (extra.messages[next++]?.rpc) said.push(["answered", JSON.parse(data).id === id, JSON.parse(data).result]);
    else said.push(typeof data === "string" ? ["text", ofText(data)] : ["bytes", digest(new Uint8Array(data))]);
    step();
  };
  socket.onclose = ({ code, reason, wasClean }) => {
    said.push(["close", code, reason, wasClean]);
    resolve(JSON.stringify(said));
  };
});

async function ask(item) {
  try {
    if (item.by.endsWith("eventsource")) return await byEvents(item);
    if (item.by.endsWith("websocket")) return await bySocket(item);
    return await (item.by === "xhr" ? byXhr(item) : byFetch(item));
  } catch (error) { return error.name; }
}
