// Style sheets as the browser applies them: scripts change rules (CSSOM), flags and order without any change of the DOM.
// A sheet's rules are sent where they are not those of the text that was parsed. No event reports such a change, so
// numbers, flags and those rules that scripts usually change are compared at each snapshot, all others in idle time.
"use strict";

demotape.styleSheets = demotape.ofGroup("styleSheets", function () {
  const COMPARE_MS = 0.4; // of a snapshot, for rules that scripts usually change
  const MIN_COMPARED = 128; // of those rules of all sheets, also when a busy machine takes the time away
  const MAX_COMPARED = 64; // of those rules, of one sheet
  const SMALL_SHEET = 8; // rules up to which all of a sheet's are compared at each snapshot
  const SLICE_MS = 4; // of idle time, for all other rules
  const MIN_PAUSE_MS = 500; // between two such comparisons, at least
  const PAUSE_FACTOR = 50; // how much longer than a comparison the pause after it is
  const UNVERIFIED_RULES = 500; // up to which a link's rules are sent until they were compared with its text
  const MAX_TEXTS = 32; // texts of links that are remembered
  const USUALLY_CHANGED = /^(:root|:host|html|body)/;
  const { shared, own } = demotape;
  shared.sheets ??= new WeakMap(); // sheet -> what `known` makes
  shared.sheetOwners ??= new Set(); // style and link elements whose text was written
  shared.sheetCount ??= 0;
  shared.sheetTexts ??= new Map(); // address -> text of a sheet that a link loaded, where the receiver knows it
  shared.chosenSheets ??= new WeakSet(); // links that a script has switched on

  /** What is known of a sheet. `changed`: its rules are not those of its text; `version`: counts changes of its rules. */
  function known(sheet, owner = null) {
    let record = shared.sheets.get(sheet);
    if (!record) {
      const count = countRules(sheet);
      record = {
        number: shared.sheetCount++, count, texts: null, unverified: false, parsed: null, compared: [], changed: false, version: 0, chunk: null, written: "",
      };
      shared.sheets.set(sheet, record);
      if (count >= 0) compareWithText(sheet, record, owner);
    }
    return record;
  }

  /** Number of a sheet's rules; -1 for a sheet of another origin, which cannot be read. */
  function countRules(sheet) {
    try {
      return sheet.cssRules.length;
    } catch {
      return -1;
    }
  }

  const textOf = (rule) => rule.cssText;
  const isImport = (rule) => rule.constructor.name === "CSSImportRule";

  /** Compare a style element's rules with those that its text has; a link's text may come later (`noteText`). */
  function compareWithText(sheet, record, owner) {
    const isStyle = owner && own(owner).localName === "style";
    record.unverified = owner !== null && !isStyle;
    const text = isStyle ? owner.textContent : "";
    const parsed = isStyle ? parse(text, sheet.cssRules) : [];
    record.changed = isStyle && (!text.trim() || parsed.length !== record.count);
    record.texts = Array.from({ length: record.count }, () => null);
    demotape.unseenState.noteNames(isStyle ? text : "");
    findCompared(sheet, record);
    if (record.unverified) {
      record.changed = record.count <= UNVERIFIED_RULES; // a script may have changed it before it was first seen here
      record.parsed = shared.sheetTexts.get(sheet.href) ?? null;
    }
    if (!isStyle || record.changed) return;
    record.changed = record.compared.some((index) => parsed[index] && textOf(parsed[index]) !== record.texts[index]);
    record.parsed = record.changed ? null : text; // the other rules are compared in idle time
  }

  /** The text of a sheet that links loaded, as the receiver knows it. */
  function noteText(address, text, onChange) {
    if (shared.sheetTexts.size >= MAX_TEXTS) shared.sheetTexts.clear();
    shared.sheetTexts.set(address, text);
    for (const { sheet } of shared.sheetOwners) {
      const record = sheet && sheet.href === address && shared.sheets.get(sheet);
      if (record?.unverified) record.parsed = text;
    }
    scheduleComparison(onChange);
  }

  /** The rules of a text; null for imported sheets, of which `rules` has as many, as constructed sheets have none. */
  function parse(text, rules) {
    const parsed = new CSSStyleSheet();
    parsed.replaceSync(text);
    const result = Array.from(parsed.cssRules);
    if (!/@import/i.test(text)) return result;
    for (let index = 0; index < rules.length; index++) if (isImport(rules[index])) result.splice(index, 0, null);
    return result;
  }

  /** Find the rules to be compared at each snapshot. */
  function findCompared(sheet, record) {
    const { cssRules } = sheet;
    const isSmall = record.count <= SMALL_SHEET;
    record.compared = [];
    for (let index = 0; index < record.count && record.compared.length < MAX_COMPARED; index++) {
      const { selectorText } = cssRules[index];
      if (isSmall || (selectorText && USUALLY_CHANGED.test(selectorText))) record.compared.push(index);
    }
    for (const index of record.compared) {
      record.texts[index] = textOf(cssRules[index]);
      noteNames(cssRules[index], record.texts[index]);
    }
  }

  /** Note that rules are others than before. */
  function noteChange(sheet, record) {
    record.changed = true;
    record.unverified = false;
    record.version++;
    record.count = countRules(sheet);
    record.parsed = null;
    record.texts = Array.from({ length: Math.max(record.count, 0) }, () => null);
    if (record.count >= 0) findCompared(sheet, record);
  }

  let compareUntil = 0, comparedCount = 0;

  /** Compare what can be compared at each snapshot; returns the number of the sheet's version. */
  function compare(sheet, owner = null) {
    const before = shared.sheets.get(sheet);
    const record = known(sheet, owner);
    if (before !== record || record.count < 0) return record;
    if (countRules(sheet) !== record.count) noteChange(sheet, record);
    else if (comparedCount < MIN_COMPARED || performance.now() < compareUntil) {
      const { cssRules } = sheet;
      comparedCount += record.compared.length;
      if (record.compared.some((index) => textOf(cssRules[index]) !== record.texts[index])) noteChange(sheet, record);
    }
    return record;
  }

  /** A snapshot begins, which may take some time for comparing rules. */
  function begin() {
    compareUntil = performance.now() + COMPARE_MS;
    comparedCount = 0;
  }

  // Sheets of style and link elements.

  const isAlternate = (owner) => own(owner).localName === "link" && /(^|\s)alternate(\s|$)/i.test(owner.rel);

  /** Follow the attribute `disabled` of a document's links: where a script has taken it away, it has switched the sheet on. */
  function watchSwitches(document) {
    new MutationObserver((mutations) => {
      for (const { target } of mutations) {
        if (own(target).localName === "link" && !own(target).hasAttribute("disabled")) shared.chosenSheets.add(target);
      }
    }).observe(document, { subtree: true, attributeFilter: ["disabled"] });
  }

  /** The title that sheets with a title need to be applied: a document has one set of them at a time (CSSOM, 6.2). */
  function preferredTitle(document) {
    const chosen = own(document).querySelector("meta[http-equiv=default-style i]")?.content;
    if (chosen) return chosen;
    for (const sheet of own(document).styleSheets) {
      if (sheet.title && sheet.ownerNode && !isAlternate(sheet.ownerNode)) return sheet.title;
    }
    return "";
  }

  /** Whether the browser applies an element's sheet. */
  function isApplied(owner, sheet) {
    if (sheet.disabled) return false;
    const { ownerDocument } = own(owner);
    if (own(owner).getRootNode() !== ownerDocument || shared.chosenSheets.has(owner)) return true;
    if (!sheet.title) return !isAlternate(owner);
    return sheet.title === preferredTitle(ownerDocument);
  }

  /** What a style or link element's sheet is, as text that changes with it; "" for a link to something else. */
  function stateOf(owner) {
    const { sheet } = owner;
    if (!sheet) return isSheetLink(owner) ? "off" : "";
    const { number, version, changed } = compare(sheet, owner);
    const media = sheet.media.mediaText;
    return `${isApplied(owner, sheet) ? "" : "off"},${changed ? `${number}.${version}` : ""},${media}`;
  }

  const isSheetLink = (element) => own(element).localName === "link" && /(^|\s)stylesheet(\s|$)/i.test(element.rel);

  /** Whether an element may have a sheet: `style`, also SVG's, and `link`. */
  const mayOwn = (tag) => tag === "style" || tag === "link";

  /** Rules of a link's sheet where they are not those of its text; else null. */
  function rulesOfLink({ sheet }) {
    return sheet && shared.sheets.get(sheet)?.changed ? sheetText(sheet) : null;
  }

  /** Rules of a style element where they are not those of its text; else null. */
  function rulesOfStyle({ sheet }) {
    return sheet && known(sheet).changed ? sheetText(sheet) : null;
  }

  function sheetText(sheet) {
    try {
      return Array.from(sheet.cssRules, textOf).join("\n");
    } catch {
      return "";
    }
  }

  /** The media that a sheet applies to, where a script has made them others than its element's attribute. */
  function changedMedia(owner) {
    const { sheet } = owner;
    if (!sheet) return null;
    const parsed = new CSSStyleSheet({ media: owner.getAttribute("media") ?? "" }).media.mediaText;
    return sheet.media.mediaText === parsed ? null : sheet.media.mediaText;
  }

  // Adopted sheets: each is kept once for all shadow roots that share it.

  const adoptedIn = (scope) => Array.from(own(scope).adoptedStyleSheets ?? []);

  /** The sheets that a document or shadow root has adopted, by number, in their order. */
  const adoptionOf = (scope) => (own(scope).adoptedStyleSheets?.length ? adoptedIn(scope).map((sheet) => known(sheet).number).join() : "");

  const documentOf = (scope) => (own(scope).host ? own(own(scope).host).ownerDocument : scope);

  /** The adopted sheets of documents: document -> a set. */
  function adoptedSheets() {
    const result = new Map();
    for (const [scope, adoption] of shared.scopes) {
      if (!adoption) continue;
      const document = documentOf(scope);
      if (!result.has(document)) result.set(document, new Set());
      for (const sheet of adoptedIn(scope)) result.get(document).add(sheet);
    }
    return result;
  }

  /** An adopted sheet's state, as text that changes with it. */
  function adoptedState(sheet) {
    const { number, version } = compare(sheet);
    return `${number}.${version},${sheet.disabled ? "off" : ""},${sheet.media.mediaText}`;
  }

  // Idle time: all rules are compared, some milliseconds at a time.

  let comparing = false, queue = [], spent = 0, paused = -Infinity;

  /** Compare all rules soon, as something happened that may have changed some. */
  function scheduleComparison(onChange) {
    if (comparing) return;
    comparing = true;
    demotape.later(() => requestIdleCallback(() => {
      queue = allSheets();
      spent = 0;
      compareSome(onChange);
    }, { timeout: MIN_PAUSE_MS }), Math.max(0, paused - performance.now()));
  }

  function allSheets() {
    const owned = Array.from(shared.sheetOwners, ({ sheet }) => sheet).filter(Boolean);
    const adopted = Array.from(adoptedSheets().values(), (sheets) => [...sheets]).flat();
    return [...owned, ...adopted].map((sheet) => ({ sheet, at: 0, reference: null }));
  }

  function compareSome(onChange) {
    const start = performance.now();
    let changed = false;
    while (queue.length && performance.now() - start < SLICE_MS) {
      const result = demotape.sending.attempt(() => compareRules(queue.at(-1), start + SLICE_MS), "done");
      if (result) queue.pop();
      changed ||= result === "changed";
    }
    spent += performance.now() - start;
    if (changed) onChange();
    if (queue.length) return void requestIdleCallback(() => compareSome(onChange), { timeout: MIN_PAUSE_MS });
    demotape.sending.attempt(demotape.unseenState.findRegistered);
    comparing = false;
    paused = performance.now() + Math.max(MIN_PAUSE_MS, spent * PAUSE_FACTOR);
  }

  /** Compare a sheet's rules; returns "changed" or "done", null when time ran out. */
  function compareRules(item, until) {
    const { sheet } = item;
    const record = shared.sheets.get(sheet);
    if (!record || record.count < 0) return "done";
    if (countRules(sheet) !== record.count) {
      noteChange(sheet, record);
      return "changed";
    }
    if (record.parsed && !item.reference) item.reference = parse(record.parsed, sheet.cssRules);
    if (item.reference && item.reference.length !== record.count) {
      noteChange(sheet, record);
      return "changed";
    }
    const { cssRules } = sheet;
    for (; item.at < record.count; item.at++) {
      if ((item.at & 15) === 15 && performance.now() > until) return null;
      const text = textOf(cssRules[item.at]);
      const parsed = item.reference?.[item.at];
      if ((record.texts[item.at] !== null && record.texts[item.at] !== text) || (parsed && textOf(parsed) !== text)) {
        noteChange(sheet, record);
        return "changed";
      }
      if (record.texts[item.at] === null) noteNames(cssRules[item.at], text);
      record.texts[item.at] = text;
    }
    const verified = record.unverified && item.reference !== null;
    record.parsed = null;
    if (!verified) return "done";
    record.changed = record.unverified = false;
    record.version++;
    return "changed";
  }

  /** Note what a rule names that is compared elsewhere. */
  function noteNames(rule, text) {
    demotape.unseenState.noteNames(text);
    if (rule.constructor.name === "CSSFontFaceRule") demotape.unseenState.noteFont(rule);
  }

  /** Forget what was sent: the next snapshot is sent in full. */
  function renew() {
    shared.sheetOwners.clear();
    for (const sheets of adoptedSheets().values()) for (const sheet of sheets) known(sheet).chunk = null;
  }

  return {
    begin, stateOf, mayOwn, isSheetLink, rulesOfLink, rulesOfStyle, sheetText, changedMedia, known, adoptionOf, adoptedSheets,
    adoptedState, watchSwitches, noteText, scheduleComparison, renew,
  };
});
