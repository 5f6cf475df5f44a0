// The snapshot cache: a frame group's text (markup.js), updated incrementally, so that the cost of a snapshot depends
// on the changes since the last one and not on the size of the page.
//
// A MutationObserver forgets the text of what changed, and of its ancestors; it is put together again in idle time. What
// no observer tells (values of controls, scroll offsets, rules added by script) is compared when a snapshot is taken.
"use strict";

demotape.snapshotCache = demotape.ofGroup("snapshotCache", function () {
  const WATCHED = { subtree: true, childList: true, attributes: true, characterData: true };
  const { shared, own } = demotape;
  const { MASK, recordOf, stateOf, scrollState, rootIn, documentChunk } = demotape.markup;
  shared.observers ??= new Set();
  shared.scopes ??= new Map(); // document or shadow root -> numbers of the sheets that it had adopted
  shared.focused ??= new Map(); // elements with the focus -> whether it is "visible" or "hidden"
  shared.lifted ??= new Map(); // elements of the top layer -> how they came there
  shared.liftedAt ??= new WeakMap(); // the same -> a number that grows in the order in which they came
  shared.lifts ??= 0;
  shared.lifting ??= true; // whether one may have come since they were looked for
  shared.version ??= 0; // counts what was heard to change

  // What has changed.

  /** The element that holds a node: its parent, its shadow host, or the frame element of its document. */
  function holderOf(node) {
    const parent = own(node).parentNode;
    if (!parent) return null;
    const { nodeType, host, defaultView } = own(parent);
    if (nodeType === Node.ELEMENT_NODE) return parent;
    if (nodeType === Node.DOCUMENT_FRAGMENT_NODE) return host ?? null;
    return defaultView && defaultView !== shared.rootFrame ? defaultView.frameElement : null;
  }

  /**
   * Forget an element's text and its ancestors', and what the table says of them. Where one was forgotten already since
   * the table was made last, so were those above it.
   */
  function forget(node) {
    let at = demotape.isElement(node) ? node : node.host ?? holderOf(node);
    for (let first = true; at; at = holderOf(at), first = false) {
      const record = shared.records.get(at);
      if (!record) continue;
      if (record.html === null && record.forgotten === shared.walks && !first) return;
      record.facts = null;
      record.forgotten = shared.walks;
      if (record.html !== undefined) record.html = null;
    }
  }

  /** An element's text is part of a plain one: it has none of its own. */
  function markCovered(element) {
    const record = shared.records.get(element);
    if (record) record.html = undefined;
  }

  function onMutations(mutations) {
    shared.version++;
    for (const { target, attributeName, type } of mutations) {
      demotape.paintTracking.touch(target, type);
      if (attributeName === MASK) {
        shared.records = new WeakMap();
        shared.masks = true;
      }
      if (attributeName === "open") lift();
      if (own(target).nodeType === Node.DOCUMENT_NODE) {
        const holder = own(target).defaultView?.frameElement;
        if (holder) forget(holder);
      } else forget(target);
    }
    if (!mutations.length) return;
    demotape.paintTracking.change();
    demotape.sending.stir("changing");
    scheduleWarming();
  }

  const observer = new MutationObserver(onMutations);
  shared.observers.add(observer);
  window.addEventListener("pagehide", (event) => event.persisted || shared.observers.delete(observer));

  function watch(scope) {
    if (shared.scopes.has(scope)) return;
    shared.scopes.set(scope, demotape.styleSheets.adoptionOf(scope));
    shared.marksStale = true;
    lift();
    observer.observe(scope, WATCHED);
    if (!own(scope).host) return;
    demotape.events.listenInside(scope);
    findScrolled(scope);
  }

  /** Find what in a scope was scrolled before anybody listened there: no event tells of it any more. */
  function findScrolled(scope) {
    for (const element of own(scope).querySelectorAll("*")) {
      const { scrollLeft, scrollTop } = own(element);
      if (scrollLeft || scrollTop) shared.scrolled.add(element);
    }
  }

  /** Take in what the observers have not told yet, and compare what none tells. */
  function update() {
    for (const observer of shared.observers) forgetAll(observer.takeRecords());
    for (const control of shared.controls) {
      if (!control.isConnected) shared.controls.delete(control);
      else if (recordOf(control).state !== stateOf(control)) forgetControl(control);
    }
    for (const frame of shared.frames) {
      if (!frame.isConnected) shared.frames.delete(frame);
      else if (recordOf(frame).inner !== rootIn(frame)) forget(frame);
    }
    for (const element of shared.scrolled) {
      if (!own(element).isConnected) shared.scrolled.delete(element);
      else if (recordOf(element).scroll !== scrollState(element)) forget(element);
    }
    followFocus();
    followLifted();
    followMarks();
    followSheets();
  }

  /** Compare style sheets: of elements, and those that documents and shadow roots have adopted. */
  function followSheets() {
    const { styleSheets } = demotape;
    styleSheets.begin();
    for (const owner of shared.sheetOwners) {
      if (!owner.isConnected) shared.sheetOwners.delete(owner);
      else if (recordOf(owner).state !== styleSheets.stateOf(owner)) restyle(owner);
    }
    for (const [scope, adoption] of shared.scopes) {
      const { host, documentElement } = own(scope);
      const now = styleSheets.adoptionOf(scope);
      if (!own(host ?? documentElement)?.isConnected) shared.scopes.delete(scope);
      else if (adoption !== now) {
        shared.scopes.set(scope, now);
        restyle(host ?? documentElement);
      }
    }
    for (const [document, sheets] of styleSheets.adoptedSheets()) {
      for (const sheet of sheets) {
        if (styleSheets.known(sheet).written !== styleSheets.adoptedState(sheet)) restyle(own(document).documentElement);
      }
    }
  }

  /** A style sheet of an element, or of its shadow root, has changed. */
  function restyle(element) {
    shared.version++;
    demotape.paintTracking.change();
    forgetText(element);
  }

  /** Which elements have the focus: of a frame's document or shadow root each its own. No observer tells of it. */
  function followFocus() {
    const now = new Map();
    for (const scope of shared.scopes.keys()) {
      const element = own(scope).activeElement;
      const shown = element && focusOf(element);
      if (shown) now.set(element, shown);
    }
    forgetChanged(shared.focused, now);
    shared.focused = now;
  }

  // An element in the top layer (fullscreen, a modal dialog, a popover) stands above all others, whatever holds it.
  const LIFTED = ["fullscreen", "popover-open", "modal"].filter((name) => CSS.supports(`selector(:${name})`));

  /** One may have come there: no attribute tells of fullscreen and popovers. */
  function lift() {
    shared.lifting = true;
  }

  /** Which elements are in the top layer, and how they came there. */
  function followLifted() {
    const selector = LIFTED.map((name) => `:${name}`).join();
    const found = shared.lifting
      ? Array.from(shared.scopes.keys(), (scope) => Array.from(own(scope).querySelectorAll(selector))).flat()
      : [...shared.lifted.keys()].filter((element) => own(element).isConnected && own(element).matches(selector));
    shared.lifting = false;
    const now = new Map(found.map((element) => [element, LIFTED.find((name) => own(element).matches(`:${name}`))]));
    for (const element of found) if (!shared.lifted.has(element)) shared.liftedAt.set(element, shared.lifts++);
    forgetChanged(shared.lifted, now);
    shared.lifted = now;
  }

  /** Compare the state that only scripts and the browser hold; returns whether some has changed. */
  function followMarks() {
    const now = demotape.unseenState.find(demotape.markup.attribute, animations());
    const changed = forgetChanged(shared.marks, now);
    shared.marks = now;
    return changed;
  }

  /** Forget the texts of elements of which one map says something else than the other; returns whether there are any. */
  function forgetChanged(before, now) {
    let changed = false;
    for (const element of new Set([...before.keys(), ...now.keys()])) {
      if (before.get(element) === now.get(element)) continue;
      changed = true;
      forgetText(element);
    }
    return changed;
  }

  /** Forget an element's text and its ancestors': what changed changes nothing that the table says. */
  function forgetText(element) {
    for (let at = element; at; at = holderOf(at)) {
      const record = shared.records.get(at);
      if (record && record.html !== undefined) record.html = null;
    }
  }

  /** "visible" for an element that has the focus and shows it, "hidden" for one that does not show it; else null. */
  function focusOf(element) {
    const node = own(element);
    return node.matches(":focus-visible") ? "visible" : node.matches(":focus") ? "hidden" : null;
  }

  /** All animations that run or will, in frames and shadow roots as well: no document tells of those. */
  const animations = () => Array.from(shared.scopes.keys(), (scope) => own(scope).getAnimations()).flat();

  function forgetAll(mutations) {
    if (mutations.length) onMutations(mutations);
  }

  function forgetControl(control) {
    shared.version++;
    if (control.localName === "select") for (const option of control.options) forget(option);
    forget(control);
  }

  // Snapshots.

  /** The frame group's text now, as a chunk. */
  function take() {
    const { document } = shared.rootFrame;
    const root = own(document).documentElement;
    const html = root ? recordOf(root).html : null;
    if (typeof html === "string" && shared.root?.html === html) return shared.root.chunk;
    shared.maskSeen ??= false;
    let chunk = documentChunk(document, 0);
    if (shared.marksStale && followMarks()) chunk = documentChunk(document, 0); // of what was found only while it was written
    shared.masks = shared.maskSeen;
    shared.root = { html: root ? recordOf(root).html : "", chunk };
    return chunk;
  }

  // Warming: put texts together while nothing else is to be done.

  const SLICE = 12; // ms at a time
  const IDLE_WAIT = 50; // ms; a page that paints nothing more may be called idle only after the next time that it paints
  // Between two times, so that a page that changes all the time is not followed all the time: ms at least and at most, and
  // how much longer than the work itself took.
  const IDLE_MIN_MS = 15, IDLE_MAX_MS = 60, IDLE_SHARE = 8;
  const LOADING = 1000; // ms in which a page that loads is left alone unless somebody acts: each piece of it would be a change
  const LEADS = 200; // ms after a press that may lead to another document: what that needs of the machine comes first
  let idle = IDLE_MIN_MS;
  shared.postponed ??= -Infinity; // until when
  function scheduleWarming() {
    if (shared.warming) return;
    shared.warming = true;
    const wait = Math.max(shared.warmed ? idle : 0, shared.postponed - demotape.now());
    demotape.later(() => requestIdleCallback(warm, { timeout: IDLE_WAIT }), wait);
  }

  const FRAME_POLL_MS = 500;
  let polling = 0;

  /**
   * Compare, in a frame group below another, what no observer reports: at an event elsewhere nobody asks it, and what it
   * reported last is taken.
   */
  function poll(turn = ++polling) {
    demotape.later(() => {
      if (turn !== polling || demotape.events.isStopped()) return;
      demotape.sending.attempt(update);
      const root = own(shared.rootFrame.document).documentElement;
      if (root && recordOf(root).html === null) scheduleWarming();
      poll(turn);
    }, FRAME_POLL_MS);
  }

  /** What was pressed may lead to another document. */
  function postpone() {
    shared.postponed = demotape.now() + LEADS;
  }

  function warm(deadline) {
    shared.warming = false;
    const { document } = shared.rootFrame;
    const { documentElement, readyState } = own(document);
    if (!documentElement || demotape.events.isStopped()) return;
    if (demotape.now() < shared.postponed) return scheduleWarming();
    const start = performance.now();
    if (readyState !== "complete" && start < LOADING && shared.acted < 0) return void demotape.later(scheduleWarming, LOADING - start);
    update();
    const whole = documentChunk(document, start + Math.min(SLICE, deadline.timeRemaining() || SLICE));
    shared.warmed = whole !== null;
    if (!shared.warmed) return scheduleWarming();
    const { rows } = demotape.table.take();
    idle = Math.min(IDLE_MAX_MS, Math.max(IDLE_MIN_MS, (performance.now() - start) * IDLE_SHARE));
    demotape.idleSnapshot.onIdle({ root: take(), rows });
    demotape.styleSheets.scheduleComparison(scheduleWarming);
  }

  /** Forget all: the next snapshot is sent whole. Elements keep their uids, chunks go on being numbered. */
  function renew() {
    observer.disconnect();
    shared.version++; // what was seen before counts no more
    demotape.styleSheets.renew();
    Object.assign(shared, { records: new WeakMap(), root: null, gesture: null, masks: true, maskSeen: false, lifting: true });
    for (const known of [shared.controls, shared.frames, shared.scopes, shared.customNames, shared.marks, shared.reportedSecrets]) known.clear();
  }

  return { take, scheduleWarming, poll, postpone, watch, markCovered, forget, lift, findScrolled, animations, update, renew };
});
