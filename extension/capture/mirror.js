// The mirror: an island's HTML text, kept up to date piece by piece, so that a snapshot costs what has changed since
// the last one and not what the page is big.
//
// Every element's text is remembered until something in it changes; a MutationObserver forgets what changed, and its
// ancestors. Where the browser's own text says all, it is taken (plain.js). Large texts are cut into chunks: a chunk
// stands in its parent's text as a mark, and is sent once. What no observer tells (values of controls, scroll offsets,
// rules added by script) is compared when a snapshot is taken. Reads only: the page is the same, byte for byte, before
// and after.
"use strict";

demotape.mirror = (function () {
  const VOID = new Set([
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
  ]);
  const RAW_TEXT = new Set(["style", "xmp", "noembed", "noframes", "plaintext"]);
  const EMPTIED = new Set(["script", "noscript"]); // never run again; may hold tokens
  const CONTROLS = new Set(["input", "textarea", "select", "style"]);
  const WATCHED = { subtree: true, childList: true, attributes: true, characterData: true };
  const MASK = "data-demotape-mask";
  const CHUNK = 2048; // characters from which a run of siblings may become a chunk
  const CHUNK_LIMIT = 16384; // characters from which it must
  const MARK = "\u0001"; // around a chunk's number in its parent's text
  const FRAME_MARK = "\u0002"; // the same for a frame's document, whose text is to be escaped as an attribute
  const MARKED = /[\u0001\u0002](\d+)[\u0001\u0002]/g;

  const { shared } = demotape;
  shared.records ??= new WeakMap(); // element -> what recordOf() makes
  shared.chunks ??= []; // number -> { text, sent }
  shared.controls ??= new Set();
  shared.frames ??= new Set();
  shared.observers ??= new Set();
  shared.scopes ??= new Map(); // document or shadow root -> what its adopted sheets were
  shared.version ??= 0; // counts what was heard to change
  shared.masks ??= true; // until a whole copy has shown that nothing is marked as secret

  const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\u00a0": "&nbsp;" };
  const escaped = (character) => escapes[character] ?? "\ufffd"; // one of our marks
  const escapeText = (text) => (/[&<>\u00a0\u0001-\u0003]/.test(text) ? text.replace(/[&<>\u00a0\u0001-\u0003]/g, escaped) : text);
  const escapeAttribute = (text) => (/[&<>"\u00a0\u0001-\u0003]/.test(text) ? text.replace(/[&<>"\u00a0\u0001-\u0003]/g, escaped) : text);
  const attribute = (name, value) => ` ${name}="${escapeAttribute(value)}"`;

  /** What is remembered of an element. `html`: its text; null once forgotten, undefined while it has none of its own. */
  function recordOf(element) {
    let record = shared.records.get(element);
    if (!record) shared.records.set(element, (record = { html: undefined, state: "", scroll: "", shadow: null, inner: null, facts: null, row: null, runs: null }));
    return record;
  }

  // What has changed.

  /** The element that holds a node: its parent, its shadow host, or the frame element of its document. */
  function holderOf(node) {
    const parent = node.parentNode;
    if (!parent) return null;
    if (parent.nodeType === Node.ELEMENT_NODE) return parent;
    if (parent.nodeType === Node.DOCUMENT_FRAGMENT_NODE) return parent.host ?? null;
    return parent.defaultView && parent.defaultView !== shared.rootFrame ? parent.defaultView.frameElement : null;
  }

  /** Forget an element's text and its ancestors'. Where one is forgotten already, so are those above it. */
  function forget(node) {
    let at = node.nodeType === Node.ELEMENT_NODE ? node : node.host ?? holderOf(node);
    for (let first = true; at; at = holderOf(at), first = false) {
      const record = shared.records.get(at);
      if (!record) continue;
      record.facts = null;
      if (record.html === null && !first) return;
      if (record.html !== undefined) record.html = null;
    }
  }

  /** An element's text is part of a plain one: it has none of its own. */
  function partOfPlain(element) {
    const record = shared.records.get(element);
    if (record) record.html = undefined;
  }

  function onMutations(mutations) {
    shared.version++;
    for (const { target, attributeName } of mutations) {
      if (attributeName === MASK) {
        shared.records = new WeakMap();
        shared.masks = true;
      }
      if (target.nodeType === Node.DOCUMENT_NODE) {
        const holder = target.defaultView?.frameElement;
        if (holder) forget(holder);
      } else forget(target);
    }
    if (mutations.length) warmSoon();
  }

  const observer = new MutationObserver(onMutations);
  shared.observers.add(observer);
  window.addEventListener("pagehide", (event) => event.persisted || shared.observers.delete(observer));

  function watch(scope) {
    if (shared.scopes.has(scope)) return;
    shared.scopes.set(scope, sheetsOf(scope));
    observer.observe(scope, WATCHED);
    if (scope.host) demotape.events.listenInside(scope);
  }

  /** Take in what the observers have not told yet, and compare what none tells. */
  function update() {
    for (const each of shared.observers) forgetAll(each.takeRecords());
    for (const control of shared.controls) {
      if (!control.isConnected) shared.controls.delete(control);
      else if (recordOf(control).state !== stateOf(control)) forgetControl(control);
    }
    for (const frame of shared.frames) {
      if (!frame.isConnected) shared.frames.delete(frame);
      else if (recordOf(frame).inner !== rootIn(frame)) forget(frame);
    }
    for (const element of shared.scrolled) {
      if (!element.isConnected) shared.scrolled.delete(element);
      else if (recordOf(element).scroll !== scrollState(element)) forget(element);
    }
    for (const [scope, sheets] of shared.scopes) {
      if (!(scope.host ?? scope.documentElement)?.isConnected) shared.scopes.delete(scope);
      else if (sheets !== sheetsOf(scope)) {
        shared.scopes.set(scope, sheetsOf(scope));
        forget(scope.host ?? scope.head ?? scope.documentElement);
      }
    }
  }

  function forgetAll(mutations) {
    if (mutations.length) onMutations(mutations);
  }

  function forgetControl(control) {
    shared.version++;
    if (control.localName === "select") for (const option of control.options) forget(option);
    forget(control);
  }

  /** What a control shows that is no attribute. */
  function stateOf(control) {
    switch (control.localName) {
      case "input": return control.type === "file" ? "" : `${control.checked}${demotape.secrets.valueOf(control)}`;
      case "textarea": return demotape.secrets.valueOf(control);
      case "select": return control.multiple ? Array.from(control.selectedOptions, (o) => o.index).join() : `${control.selectedIndex}`;
      default: return control.sheet ? `${rulesIn(control.sheet)}` : "";
    }
  }

  const sheetsOf = ({ adoptedStyleSheets: sheets }) => (sheets?.length ? Array.from(sheets, rulesIn).join() : "");

  function rulesIn(sheet) {
    try {
      return sheet.cssRules.length;
    } catch {
      return -1; // another origin's sheet cannot be read
    }
  }

  // Texts.

  /** Text of a document with its doctype; null when time ran out. */
  function documentText(document, until) {
    const root = document.documentElement;
    const { doctype } = document;
    watch(document);
    const head = doctype ? `<!DOCTYPE ${doctype.name}${doctypeIds(doctype)}>` : "";
    const html = root ? elementText(root, until, false) : "";
    return html === null ? null : head + html;
  }

  function doctypeIds({ publicId, systemId }) {
    if (publicId) return ` PUBLIC "${publicId}"${systemId ? ` "${systemId}"` : ""}`;
    return systemId ? ` SYSTEM "${systemId}"` : "";
  }

  /** Text of an element: remembered, or put together from its children's. null when time ran out. */
  function elementText(element, until, masked) {
    const record = recordOf(element);
    if (typeof record.html === "string") return record.html;
    if (until && performance.now() > until) return null;
    const plain = masked ? null : demotape.plain.text(element);
    if (plain !== null) return (record.html = plain);
    const tag = element.prefix ? `${element.prefix}:${element.localName}` : element.localName;
    if (CONTROLS.has(tag)) {
      shared.controls.add(element);
      record.state = stateOf(element);
    }
    const start = `<${tag}${attributesText(element, tag, record)}`;
    const inMask = masked || (shared.masks && element.hasAttribute(MASK));
    let html;
    if (tag === "iframe" || tag === "frame") html = frameText(element, tag, start, until);
    else if (VOID.has(tag)) html = start + ">";
    else {
      const content = contentText(element, tag, until, inMask);
      html = content === null ? null : `${start}>${content}</${tag}>`;
    }
    return (record.html = html);
  }

  function attributesText(element, tag, record) {
    let text = attribute("data-demotape-uid", demotape.uid(element));
    const control = tag === "input" || tag === "option";
    for (const { name, value } of element.attributes) {
      if (name.startsWith("data-demotape-")) {
        if (name !== MASK) continue;
        shared.masks = shared.maskSeen = true;
      }
      if (control && (name === "checked" || name === "selected" || (name === "value" && tag === "input"))) continue;
      if (name === "srcdoc" || (name === "src" && (tag === "iframe" || tag === "frame"))) continue;
      text += attribute(name, value);
    }
    if (tag === "img" && element.currentSrc && element.currentSrc !== element.src) {
      text += attribute("data-demotape-src", element.currentSrc); // what srcset or picture chose
    }
    if (tag === "input") text += inputState(element);
    if (tag === "option" && element.selected) text += ' selected=""';
    if (tag === "html") text += attribute("data-demotape-base", element.ownerDocument.baseURI);
    record.scroll = scrollState(element);
    return record.scroll ? text + attribute("data-demotape-scroll", record.scroll) : text;
  }

  function inputState(element) {
    if (element.type === "file") return "";
    const value = demotape.secrets.valueOf(element);
    const shown = value || element.hasAttribute("value") ? attribute("value", value) : "";
    return element.checked ? shown + ' checked=""' : shown;
  }

  function scrollState(element) {
    if (!shared.scrolled.has(element)) return "";
    const { scrollLeft, scrollTop } = element;
    return scrollLeft || scrollTop ? `${scrollLeft},${scrollTop}` : "";
  }

  function contentText(element, tag, until, masked) {
    if (EMPTIED.has(tag)) return "";
    if (tag === "style") return styleText(element);
    if (tag === "textarea") return "\n" + escapeText(demotape.secrets.valueOf(element));
    if (tag === "template") return escapeMarks(element.innerHTML);
    const shadow = (recordOf(element).shadow = demotape.shadowRootOf(element));
    const before = (shadow ? shadowText(shadow, until, masked) : "");
    if (before === null) return null;
    const children = childrenText(element, RAW_TEXT.has(tag), until, masked);
    if (children === null) return null;
    const swallowed = (tag === "pre" || tag === "listing") && demotape.plain.beginsWithBreak(element);
    const text = before + (swallowed ? "\n" : "") + children;
    return tag === "head" ? text + adoptedStyles(element.ownerDocument) : text;
  }

  const escapeMarks = (text) => text.replace(/[\u0001-\u0003]/g, "\ufffd");

  /**
   * Text of all children. Runs of siblings become chunks. A run ends behind a child whose number says so, not at a
   * number of characters, so that a child added before does not move all the boundaries behind it. A run whose parts
   * are the same as the last time keeps its chunk.
   */
  function childrenText(parent, raw, until, masked) {
    const record = recordOf(parent);
    const before = record.runs, runs = new Map();
    let text = "", parts = [], first = null, length = 0;
    for (let child = parent.firstChild; child; child = child.nextSibling) {
      const isElement = child.nodeType === Node.ELEMENT_NODE;
      const part = isElement ? elementText(child, until, masked) : nodeText(child, raw, masked);
      if (part === null) return null;
      if (isElement) first ??= child;
      parts.push(part);
      length += part.length;
      const full = length > CHUNK && isElement && (length > CHUNK_LIMIT || part.length > CHUNK || endsRun(child));
      if (full) {
        const run = sameRun(before?.get(first), parts) ?? { parts, mark: mark(parts.join(""), MARK) };
        runs.set(first, run);
        text += run.mark;
        parts = [], first = null, length = 0;
      }
    }
    record.runs = runs.size ? runs : null;
    return text + parts.join("");
  }

  function nodeText(node, raw, masked) {
    if (node.nodeType !== Node.TEXT_NODE && node.nodeType !== Node.CDATA_SECTION_NODE) return "";
    if (raw) return escapeMarks(node.data);
    return escapeText(masked && node.data.trim() ? demotape.secrets.REDACTED : node.data);
  }

  function sameRun(run, parts) {
    return run && run.parts.length === parts.length && run.parts.every((part, index) => part === parts[index]) ? run : null;
  }

  const endsRun = (child) => demotape.number(child) % 8 === 0;

  /** Put a text away as a chunk; returns the mark that stands for it. */
  function mark(text, kind) {
    return `${kind}${shared.chunks.push({ text, sent: false }) - 1}${kind}`;
  }

  function shadowText(shadow, until, masked) {
    watch(shadow);
    const children = childrenText(shadow, false, until, masked);
    if (children === null) return null;
    const focus = shadow.delegatesFocus ? ' shadowrootdelegatesfocus=""' : "";
    return `<template shadowrootmode="${shadow.mode}"${focus}>${adoptedStyles(shadow)}${children}</template>`;
  }

  /** A style element's rules: its text, or what scripts put there through the CSSOM. */
  function styleText(element) {
    const text = element.textContent;
    return escapeMarks(text.trim() || !element.sheet ? text : sheetText(element.sheet));
  }

  function sheetText(sheet) {
    try {
      return Array.from(sheet.cssRules, (rule) => rule.cssText).join("\n");
    } catch {
      return "";
    }
  }

  function adoptedStyles(scope) {
    return Array.from(scope.adoptedStyleSheets ?? [],
      (sheet) => `<style data-demotape-adopted="">${escapeMarks(sheetText(sheet))}</style>`).join("");
  }

  function frameText(element, tag, start, until) {
    const source = element.getAttribute("src");
    const inner = demotape.island.documentOf(element);
    shared.frames.add(element);
    recordOf(element).inner = rootIn(element);
    let text = start + (source === null ? "" : attribute("data-demotape-src", source));
    if (inner) {
      const html = documentText(inner, until);
      if (html === null) return null;
      text += ` srcdoc="${mark(html, FRAME_MARK)}"`;
    }
    return tag === "frame" ? text + ">" : `${text}></iframe>`;
  }

  const rootIn = (frame) => demotape.island.documentOf(frame)?.documentElement ?? null;

  // Snapshots.

  /** The island's text now, as a chunk's number. */
  function take() {
    const { document } = shared.rootFrame;
    const root = document.documentElement;
    if (root && typeof recordOf(root).html === "string" && shared.rootChunk?.html === recordOf(root).html) return shared.rootChunk.number;
    shared.maskSeen ??= false;
    const html = documentText(document, 0);
    shared.masks = shared.maskSeen;
    const number = shared.chunks.push({ text: html, sent: false }) - 1;
    shared.rootChunk = { html: root ? recordOf(root).html : "", number };
    return number;
  }

  /** Chunks below a number that were not sent yet, as [number, text]; they count as sent from now on. */
  function unsent(number) {
    const found = [], waiting = [number];
    while (waiting.length) {
      const at = waiting.pop(), chunk = shared.chunks[at];
      if (chunk.sent) continue;
      chunk.sent = true;
      found.push([at, chunk.text]);
      for (const [, below] of chunk.text.matchAll(MARKED)) waiting.push(Number(below));
      chunk.text = ""; // nobody asks again
    }
    return found;
  }

  // Warming: put texts together while nothing else is to be done.

  const SLICE = 12; // ms at a time
  const IDLE_WAIT = 50; // ms; a page that paints nothing more may be called idle only after the next time that it paints
  // Between two times, so that a page that changes all the time is not followed all the time: ms at least and at most, and
  // how much longer than the work itself took.
  const REST_LEAST = 15, REST_MOST = 60, REST_SHARE = 8;
  const LOADING = 1000; // ms in which a page that is being read is left alone: each piece of it would be a change
  let rest = REST_LEAST;
  function warmSoon() {
    if (shared.warming) return;
    shared.warming = true;
    setTimeout(() => requestIdleCallback(warm, { timeout: IDLE_WAIT }), shared.warmed ? rest : 0);
  }

  function warm(deadline) {
    shared.warming = false;
    const { document } = shared.rootFrame;
    if (!document.documentElement) return;
    const start = performance.now();
    if (document.readyState === "loading" && start < LOADING) return void setTimeout(warmSoon, LOADING - start);
    update();
    const text = documentText(document, start + Math.min(SLICE, deadline.timeRemaining() || SLICE));
    shared.warmed = text !== null;
    if (!shared.warmed) return warmSoon();
    const { rows } = demotape.table.take();
    rest = Math.min(REST_MOST, Math.max(REST_LEAST, (performance.now() - start) * REST_SHARE));
    demotape.events.rested({ root: take(), rows });
  }

  /** Forget all: the next snapshot is sent whole. Elements keep their uids, chunks go on being numbered. */
  function renew() {
    observer.disconnect();
    shared.version++; // what was seen before counts no more
    Object.assign(shared, { records: new WeakMap(), rootChunk: null, gesture: null, masks: true, maskSeen: false });
    for (const known of [shared.controls, shared.frames, shared.scopes]) known.clear();
  }

  return { take, unsent, warmSoon, recordOf, partOfPlain, forget, update, renew };
})();
