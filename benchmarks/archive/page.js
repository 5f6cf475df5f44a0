// The page: each planned exchange in its way, some at a time; `said` has the result of each, by number.
"use strict";
const said = {};
const element = (name, attributes, parent = document.body) => new Promise((resolve) => {
  const made = document.createElement(name);
  made.onload = () => resolve("load");
  made.onerror = () => resolve("error");
  Object.assign(made, attributes);
  parent.append(made);
});
const ofWorker = (worker, item) => new Promise((resolve) => {
  (worker.port ?? worker).onmessage = ({ data }) => resolve(data);
  worker.onerror = () => resolve("error");
  (worker.port ?? worker).postMessage(item);
});
const inService = async (item) => {
  const scope = `/service/${item.number}/`;
  const registration = await navigator.serviceWorker.register(`/worker/service-${item.number}.js`, { scope });
  const worker = registration.active ?? registration.waiting ?? registration.installing;
  await new Promise((resolve) => {
    if (worker.state === "activated") resolve();
    worker.addEventListener("statechange", () => worker.state === "activated" && resolve());
  });
  if (item.by === "service") {
    const { port1, port2 } = new MessageChannel();
    return new Promise((resolve) => {
      port1.onmessage = ({ data }) => resolve(data);
      worker.postMessage(item, [port2]);
    });
  }
  const frame = document.createElement("iframe");
  frame.src = `${scope}frame`;
  await new Promise((resolve) => { frame.onload = resolve; document.body.append(frame); });
  return frame.contentWindow.ask(item);
};
const submit = (item) => new Promise((resolve) => {
  const { extra, number, size } = item;
  const frame = document.createElement("iframe"), form = document.createElement("form");
  frame.name = `frame-${number}`;
  Object.assign(form, { method: item.method, enctype: item.sent, action: item.url, target: frame.name,
    acceptCharset: extra.charset });
  const field = document.createElement("textarea");
  field.name = "text";
  field.value = `${letters(size)}\nü "q"`;
  form.append(field);
  if (extra.file) {
    const input = document.createElement("input");
    Object.assign(input, { type: "file", name: "upload" });
    const files = new DataTransfer();
    files.items.add(extra.file === "disk" ? document.querySelector("#disk").files[0]
      : new File([fill(size, number)], "ü.bin"));
    input.files = files.files;
    form.append(input);
  }
  document.body.append(frame, form);
  frame.onload = () => resolve(frame.contentDocument?.body?.textContent ?? "other");
  form.submit();
});
const ways = {
  worker: (item) => ofWorker(new Worker(`/worker/plain-${item.number}.js`), item),
  "worker eventsource": (item) => ofWorker(new Worker(`/worker/plain-${item.number}.js`), item),
  "worker websocket": (item) => ofWorker(new Worker(`/worker/plain-${item.number}.js`), item),
  "module worker": (item) => ofWorker(new Worker(`/worker/module-${item.number}.js`, { type: "module" }), item),
  "nested worker": (item) => ofWorker(new Worker(`/worker/nested-${item.number}.js`), item),
  shared: (item) => { const worker = new SharedWorker(`/worker/shared-${item.number}.js`); worker.port.start();
    return ofWorker(worker, item); },
  service: inService, "through service": inService, form: submit,
  beacon: async (item) => String(navigator.sendBeacon(item.url, letters(item.size))),
  ping: async (item) => { const link = document.createElement("a"); Object.assign(link, { href: "#p", ping: item.url });
    document.body.append(link); link.click(); return "pinged"; },
  img: async (item) => { let seen = "";
    for (let time = 0; time < (item.extra.times ?? 1); time++) seen += await element("img", { src: item.url });
    return seen; },
  svg: (item) => element("img", { src: item.url }), input: (item) => element("input", { type: "image", src: item.url }),
  audio: (item) => new Promise((resolve) => {
    const audio = new Audio();
    Object.assign(audio, { preload: "auto", onerror: () => resolve("error"),
      oncanplaythrough: () => { audio.currentTime = audio.duration / 2; audio.onseeked = () => resolve(audio.duration); } });
    audio.src = item.url;
    document.body.append(audio);
  }),
  script: (item) => element("script", { src: item.url }),
  module: (item) => element("script", { type: "module", src: item.url }),
  style: (item) => element("link", { rel: "stylesheet", href: item.url }),
  prefetch: (item) => element("link", { rel: "prefetch", href: item.url }),
  preload: (item) => element("link", { rel: "preload", as: "fetch", crossOrigin: "anonymous", href: item.url }),
  iframe: (item) => Promise.race([element("iframe", { src: item.url }), // which has no end where it is downloaded
    new Promise((resolve) => setTimeout(resolve, 3000, "load"))]), object: (item) => element("object", { data: item.url }),
  font: (item) => new FontFace(`font${item.number}`, `url(${item.url})`).load().then(() => "load", () => "error"),
  import: (item) => import(item.url).then((module) => JSON.stringify(Object.entries(module))),
  "json module": (item) => import(item.url, { with: { type: "json" } }).then((module) => JSON.stringify(module.default)),
  track: (item) => new Promise((resolve) => {
    const video = document.createElement("video"), track = document.createElement("track");
    Object.assign(track, { src: item.url, default: true, onload: () => resolve(track.track.cues[0].text),
      onerror: () => resolve("error") });
    video.append(track);
    document.body.append(video);
    track.track.mode = "showing";
  }),
  background: (item) => { const box = document.createElement("div");
    box.style.cssText = `width:20px;height:20px;background:url(${item.url})`;
    document.body.append(box);
    return element("img", { src: item.url }); },
};
async function one(item) {
  const limit = new Promise((resolve) => setTimeout(resolve, item.kind === "large" ? 60_000 : 15_000, "no end"));
  try {
    said[item.number] = String(await Promise.race([limit, (ways[item.by] ?? ask)(item)]));
  } catch (error) { said[item.number] = error.name; }
}
async function all(items, together) {
  const waiting = [...items];
  await Promise.all(Array.from({ length: together }, async () => {
    while (waiting.length) {
      const item = waiting.shift();
      document.title = `asks ${item.number}`;
      await one(item);
    }
  }));
  document.title = "done";
}
document.querySelector("#go").onclick = () => fetch("/plan.json").then((answer) => answer.json()).then((plan) =>
  all(plan.items, plan.together));
