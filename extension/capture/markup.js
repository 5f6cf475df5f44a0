// A frame group's text as HTML, assembled element by element. Every element's text is remembered until something in it
// changes (snapshot_cache.js says when). Where the browser's own text says all, it is taken (fast_serialize.js). Large
// texts are cut into chunks: a chunk stands in its parent's text as a mark. Who marks a chunk holds it, so that one
// that is no part of the page any more is let go. Reads only: the page is the same, byte for byte, before and after.
"use strict";

demotape.markup = (function () {
  const VOID = new Set([
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
  ]);
  const RAW_TEXT = new Set(["style", "xmp", "noembed", "noframes", "plaintext"]);
  const EMPTIED = new Set(["script", "noscript"]); // never run again; may hold tokens
  const CONTROLS = new Set(["input", "textarea", "select"]);
  const MASK = "data-demotape-mask";
  const CHUNK = 2048; // characters from which a run of siblings may become a chunk
  const CHUNK_LIMIT = 16384; // characters from which it must
  const MARK = "\u0001"; // around a chunk's number in its parent's text
  const FRAME_MARK = "\u0002"; // the same for a frame's document, whose text is to be escaped as an attribute

  const UID = globalThis.demotapeShared.uid_attribute;

  const { shared, own } = demotape;
  shared.records ??= new WeakMap(); // element -> what recordOf() makes
  shared.chunkCount ??= 0;
  shared.controls ??= new Set();
  shared.frames ??= new Set();
  shared.set ??= null; // a control that is to be shown as it was before it was set
  shared.masks ??= true; // until a whole copy has shown that nothing is marked as secret

  const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\u00a0": "&nbsp;" };
  const escaped = (character) => escapes[character] ?? "\ufffd"; // one of our marks
  const escapeText = (text) => (/[&<>\u00a0\u0001-\u0003]/.test(text) ? text.replace(/[&<>\u00a0\u0001-\u0003]/g, escaped) : text);
  const escapeAttribute = (text) => (/[&<>"\u00a0\u0001-\u0003]/.test(text) ? text.replace(/[&<>"\u00a0\u0001-\u0003]/g, escaped) : text);
  const escapeMarks = (text) => (/[\u0001-\u0003]/.test(text) ? text.replace(/[\u0001-\u0003]/g, "\ufffd") : text);
  const attribute = (name, value) => ` ${escapeMarks(name)}="${escapeAttribute(value)}"`;

  /**
   * What is remembered of an element. `html`: its text; null once forgotten, undefined while it has none of its own.
   * `chunks`: those marked in it.
   */
  function recordOf(element) {
    let record = shared.records.get(element);
    if (!record) shared.records.set(element, (record = {
      html: undefined, chunks: null, runs: null, state: "", scroll: "", shadow: null, inner: null, facts: null, row: null,
      forgotten: -1,
    }));
    return record;
  }

  // What a text says that no observer tells: it is compared when a snapshot is taken.

  /** What a control shows that is no attribute; of one that was set, what it showed before. */
  function stateOf(control) {
    if (control !== shared.set) return stateNow(control);
    return shared.controls.has(control) ? recordOf(control).state : stateAtFirst(control);
  }

  function stateNow(control) {
    switch (control.localName) {
      case "input": return control.type === "file" ? "" : `${checkedness(control)}${demotape.secrets.valueOf(control)}`;
      case "textarea": return demotape.secrets.valueOf(control);
      default: return control.multiple ? Array.from(control.selectedOptions, (o) => o.index).join() : `${control.selectedIndex}`;
    }
  }

  // Between a checkbox's state and the value: a value may begin with anything.
  const checkedness = ({ checked, indeterminate, type }) => `${checked}${type === "checkbox" && indeterminate ? "?" : "!"}`;

  /** What a control shows until somebody sets it. */
  function stateAtFirst(control) {
    if (control.localName !== "select") {
      const value = control.defaultValue && demotape.secrets.isSecret(control) ? demotape.secrets.REDACTED : control.defaultValue;
      return control.localName === "input" ? `${control.defaultChecked}!${value}` : value;
    }
    const chosen = Array.from(control.options, (option) => option).filter((option) => option.defaultSelected);
    const first = control.multiple || control.size > 1 ? "" : "0";
    return chosen.map((option) => option.index).join() || first;
  }

  function scrollState(element) {
    if (!shared.scrolled.has(element)) return "";
    const { scrollLeft, scrollTop } = own(element);
    return scrollLeft || scrollTop ? `${scrollLeft},${scrollTop}` : "";
  }

  const rootIn = (frame) => own(demotape.frameGroup.documentOf(frame))?.documentElement ?? null;

  // Texts.

  /** A document with its doctype, as a chunk; null when time ran out. */
  function documentChunk(document, until) {
    const { documentElement: root, doctype } = own(document);
    demotape.snapshotCache.watch(document);
    const head = doctype ? escapeMarks(`<!DOCTYPE ${doctype.name}${doctypeIds(doctype)}>`) : "";
    const { html, chunks } = root ? write(root, until, false) : { html: "", chunks: null };
    if (typeof html !== "string") return null;
    const sheets = adoptedSheets(document);
    return chunk(head + html + sheets.map((sheet) => marked(sheet, MARK)).join(""), [...chunks ?? [], ...sheets]);
  }

  /** A chunk for each sheet that a document and its shadow roots have adopted: behind its text, once for all of them. */
  function adoptedSheets(document) {
    const sheets = demotape.styleSheets.adoptedSheets().get(document) ?? [];
    return Array.from(sheets, adoptedChunk).sort((one, other) => one.number - other.number);
  }

  function adoptedChunk(sheet) {
    const { styleSheets } = demotape;
    const record = styleSheets.known(sheet);
    const state = styleSheets.adoptedState(sheet);
    if (record.chunk && record.written === state) return record.chunk;
    const media = sheet.media.mediaText;
    const attributes = attribute("data-demotape-adopted", `${record.number}`)
      + (media ? attribute("media", media) : "") + (sheet.disabled ? attribute("data-demotape-sheet", "off") : "");
    record.written = state;
    record.chunk = chunk(`<style${attributes}>${escapeMarks(styleSheets.sheetText(sheet))}</style>`, null);
    return record.chunk;
  }

  function doctypeIds({ publicId, systemId }) {
    if (publicId) return ` PUBLIC "${publicId}"${systemId ? ` "${systemId}"` : ""}`;
    return systemId ? ` SYSTEM "${systemId}"` : "";
  }

  /** The record of an element, with its text: remembered, or put together from its children's. No text when time ran out. */
  function write(element, until, masked) {
    const record = recordOf(element);
    if (typeof record.html === "string" || (until && performance.now() > until)) return record;
    record.chunks = null;
    record.html = (masked ? null : demotape.fastSerialize.text(element)) ?? ownText(element, record, until, masked);
    return record;
  }

  /** Text of an element, tag by tag; null when time ran out. */
  function ownText(element, record, until, masked) {
    const { prefix, localName } = own(element);
    const tag = escapeMarks(prefix ? `${prefix}:${localName}` : localName);
    if (CONTROLS.has(tag)) {
      record.state = stateOf(element);
      shared.controls.add(element);
    }
    if (tag.includes("-")) demotape.unseenState.noteCustom(element, tag);
    if (demotape.styleSheets.mayOwn(tag)) {
      record.state = demotape.styleSheets.stateOf(element);
      shared.sheetOwners.add(element);
    }
    const start = `<${tag}${attributesText(element, tag, record)}`;
    if (demotape.frameGroup.mayHoldFrame(element)) return frameText(element, tag, start, record, until, masked);
    if (VOID.has(tag)) return start + ">";
    const content = contentText(element, tag, record, until, isMasked(element, masked));
    return content === null ? null : `${start}>${content}</${tag}>`;
  }

  const isMasked = (element, masked) => masked || (shared.masks && own(element).hasAttribute(MASK));

  function attributesText(element, tag, record) {
    let text = attribute(UID, demotape.uid(element));
    const control = tag === "input" || tag === "option";
    for (const { name, value } of own(element).attributes) {
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
    if (tag === "input") text += inputState(element, record);
    if (tag === "option" && isChosen(element)) text += ' selected=""';
    if (demotape.styleSheets.mayOwn(tag)) text += sheetState(element, record);
    if (own(element).parentNode?.nodeType === Node.DOCUMENT_NODE) text += documentState(element);
    else if (demotape.shadowRootOf(element)) text += adoptedBy(demotape.shadowRootOf(element));
    if (shared.focused.has(element)) text += attribute("data-demotape-focus", shared.focused.get(element));
    if (shared.lifted.has(element)) text += attribute("data-demotape-lifted", shared.lifted.get(element)) + attribute("data-demotape-lifted-at", `${shared.liftedAt.get(element)}`);
    text += shared.marks.get(element) ?? "";
    record.scroll = scrollState(element);
    return record.scroll ? text + attribute("data-demotape-scroll", record.scroll) : text;
  }

  const adoptedBy = (scope) => {
    const numbers = demotape.styleSheets.adoptionOf(scope);
    return numbers ? attribute("data-demotape-adopts", numbers) : "";
  };

  function documentState(root) {
    const { ownerDocument } = own(root);
    return attribute("data-demotape-base", root.baseURI) + modeOf(ownerDocument) + adoptedBy(ownerDocument);
  }

  /** What of a style or link element's sheet is in no attribute: whether it is applied, its media, a link's rules. */
  function sheetState(element, { state }) {
    const { changedMedia, rulesOfLink } = demotape.styleSheets;
    const media = changedMedia(element);
    const rules = own(element).localName === "link" ? rulesOfLink(element) : null;
    return (state.startsWith("off") ? attribute("data-demotape-sheet", "off") : "")
      + (media === null ? "" : attribute("data-demotape-media", media))
      + (rules === null ? "" : attribute("data-demotape-rules", rules));
  }

  /** The mode that browsers show a document in, where its doctype does not tell: as of frames that scripts have written. */
  function modeOf(document) {
    const { compatMode, doctype } = own(document);
    if (compatMode === "BackCompat") return attribute("data-demotape-mode", "quirks");
    return doctype ? "" : attribute("data-demotape-mode", "standards");
  }

  function inputState(element, { state }) {
    if (element.type === "file") return "";
    const [, checked, mark, value] = /^(true|false)([!?])([^]*)$/.exec(state);
    const shown = value || element.hasAttribute("value") ? attribute("value", value) : "";
    return shown + (checked === "true" ? ' checked=""' : "") + (mark === "?" ? ' data-demotape-indeterminate=""' : "");
  }

  function isChosen(option) {
    if (!shared.set || option.closest("select") !== shared.set) return option.selected;
    return recordOf(shared.set).state.split(",").includes(`${option.index}`);
  }

  function contentText(element, tag, record, until, masked) {
    if (EMPTIED.has(tag)) return "";
    if (tag === "style") return styleText(element);
    if (tag === "textarea") return "\n" + escapeText(record.state);
    if (tag === "template") return escapeMarks(element.innerHTML);
    const shadow = (record.shadow = demotape.shadowRootOf(element));
    const before = shadow ? shadowText(shadow, until, masked) : "";
    if (before === null) return null;
    const children = childrenText(element, record, RAW_TEXT.has(tag), until, masked);
    if (children === null) return null;
    if (shadow) record.chunks = [...recordOf(shadow).chunks ?? [], ...record.chunks ?? []];
    const swallowed = (tag === "pre" || tag === "listing") && demotape.fastSerialize.beginsWithBreak(element);
    return before + (swallowed ? "\n" : "") + children;
  }

  /**
   * Text of all children. Runs of siblings become chunks. A run ends behind a child whose number says so, not at a
   * number of characters, so that a child added before does not move all the boundaries behind it. A run whose parts
   * are the same as the last time keeps its chunk.
   */
  function childrenText(parent, record, raw, until, masked) {
    const runs = new Map();
    const chunks = [];
    let text = "", parts = [], inner = [], first = null, length = 0;
    for (let child = own(parent).firstChild; child; child = own(child).nextSibling) {
      const isElement = demotape.isElement(child);
      const written = isElement ? write(child, until, masked) : null;
      const part = isElement ? written.html : nodeText(child, raw, masked);
      if (typeof part !== "string") return null;
      if (isElement) {
        first ??= child;
        if (written.chunks) inner.push(...written.chunks);
      }
      parts.push(part);
      length += part.length;
      const full = length > CHUNK && isElement && (length > CHUNK_LIMIT || part.length > CHUNK || endsRun(child));
      if (full) {
        const run = sameRun(record.runs?.get(first), parts) ?? { parts, chunk: chunk(parts.join(""), inner) };
        runs.set(first, run);
        text += marked(run.chunk, MARK);
        chunks.push(run.chunk);
        parts = [], inner = [], first = null, length = 0;
      }
    }
    record.runs = runs.size ? runs : null;
    chunks.push(...inner);
    record.chunks = chunks.length ? chunks : null;
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

  /** A text that is sent once, and stands in the texts of those who hold it as a mark. `chunks`: those marked in it. */
  const chunk = (text, chunks) => ({ number: shared.chunkCount++, text, chunks, sent: false });

  const marked = ({ number }, kind) => `${kind}${number}${kind}`;

  function shadowText(shadow, until, masked) {
    demotape.snapshotCache.watch(shadow);
    const children = childrenText(shadow, recordOf(shadow), false, until, masked);
    if (children === null) return null;
    const focus = shadow.delegatesFocus ? ' shadowrootdelegatesfocus=""' : "";
    const slots = shadow.slotAssignment === "manual" ? ' shadowrootslotassignment="manual"' : "";
    return `<template shadowrootmode="${shadow.mode}"${focus}${slots}>${children}</template>`;
  }

  /** A style element's rules: its text, or what scripts have made of them. */
  const styleText = (element) => escapeMarks(demotape.styleSheets.rulesOfStyle(element) ?? element.textContent);

  /** Text of a frame element. An `object` also has its content, which is shown where its document cannot be. */
  function frameText(element, tag, start, record, until, masked) {
    const source = tag === "iframe" || tag === "frame" ? element.getAttribute("src") : null;
    const inner = demotape.frameGroup.documentOf(element);
    shared.frames.add(element);
    record.inner = rootIn(element);
    let text = start + (source === null ? "" : attribute("data-demotape-src", source));
    const content = tag === "object" ? contentText(element, tag, record, until, isMasked(element, masked)) : "";
    if (content === null) return null;
    if (inner) {
      const document = documentChunk(inner, until);
      if (!document) return null;
      record.chunks = [document, ...record.chunks ?? []];
      text += ` srcdoc="${marked(document, FRAME_MARK)}"`;
    }
    return tag === "frame" || tag === "embed" ? text + ">" : `${text}>${content}</${tag}>`;
  }

  return { MASK, attribute, recordOf, stateOf, scrollState, rootIn, documentChunk };
})();
