// Receives every trusted event before the page does, and sends it with the state before its effect; also synthetic
// events of a driver if the recorder can detect them (driven.js).
//
// The first event of a gesture (gestures.js) carries the snapshot; the others name it and carry none.
"use strict";

demotape.events = (function () {
  const TEXT_LIMIT = 20000;
  const LEADING = "a[href]:not([href^='#']), area[href], form button:not([type=button]), form input[type=submit]";
  const ENTERED = `${LEADING}, form input`;

  const { own, gestures, typing, scrolling, hovering, values } = demotape;
  const { send, attempt } = demotape.sending;

  const modifiers = (event) =>
    ["Alt", "Control", "Meta", "Shift"].filter((name) => event.getModifierState?.(name));

  /**
   * Send the first event of a gesture with the frame group's snapshot; `set`: a control that has its new value already;
   * `atRest`: the page has changed already, as the browser or the page acts before it tells.
   */
  function begin(kind, event, element, data, { set = null, atRest = false } = {}) {
    const { shared } = demotape;
    attempt(() => shared.pendingText?.flush(true));
    const scrolled = attempt(() => demotape.paintTracking.findScrolls(element), 0);
    const snapshot = atRest ? demotape.idleSnapshot.beforeNow().snapshot : set
      ? attempt(() => demotape.snapshot.takeWithOldValue(set)) : attempt(demotape.snapshot.take);
    const shown = attempt(() => demotape.paintTracking.targetPainting(element, scrolled));
    shared.gesture = send(event.type, event, element, data, { snapshot, shown });
    if (shown) attempt(() => demotape.paintTracking.follow(shared.gesture, shown, element));
    hovering.forget();
    return gestures.begin(kind, shared.gesture, element);
  }

  /** The innermost element that an event is about, also inside shadow roots. */
  function targetOf(event) {
    const element = insideClosedRoots(outerTargetOf(event), event);
    return POINTED.has(event.type) ? boxedAncestor(element) : element;
  }

  const POINTED = new Set(["pointerdown", "pointerup", "click", "dblclick", "auxclick", "contextmenu"]);

  /** What the browser names as target may have no box (`display: contents`, as of a slot): the one around it has. */
  function boxedAncestor(element) {
    let boxed = element;
    while (boxed && getComputedStyle(boxed).display === "contents") boxed = parentShown(boxed);
    return boxed ?? element;
  }

  /** The element in which one is shown: the slot's, the parent, or the host. */
  function parentShown(element) {
    const { assignedSlot, parentElement } = own(element);
    return assignedSlot ?? parentElement ?? own(element.getRootNode()).host ?? null;
  }

  /** The browser tells only the host of what happens in a closed root: ask the root what is there. */
  function insideClosedRoots(element, event) {
    for (let root = closedRootOf(element); root; root = closedRootOf(element)) {
      const pointed = event.clientX !== undefined && !(event instanceof KeyboardEvent);
      const inner = pointed ? root.elementFromPoint(event.clientX, event.clientY) : root.activeElement;
      if (!inner || inner === element) break;
      element = inner;
    }
    return element;
  }

  const closedRootOf = (element) => demotape.shared.closedRoots.get(element);

  function outerTargetOf(event) {
    const target = event.composedPath()[0] ?? event.target;
    if (demotape.isElement(target)) return target;
    const { nodeType, scrollingElement, documentElement, parentElement } = own(target) ?? {};
    if (nodeType === Node.DOCUMENT_NODE) return scrollingElement ?? documentElement;
    return parentElement ?? own(document).documentElement;
  }

  function point(event) {
    const { x, y, scaleX, scaleY } = demotape.frameGroup.transform(window);
    return demotape.finiteBox({ x: event.clientX * scaleX + x, y: event.clientY * scaleY + y });
  }

  function pointerData(event) {
    return {
      ...point(event), button: Math.max(event.button, 0), modifiers: modifiers(event),
      ...(event.pointerType ? { pointer_type: event.pointerType } : {}),
    };
  }

  function keyData(event, element) {
    const secret = demotape.secrets.isSecret(element) && event.key.length === 1;
    return {
      key: secret ? "Character" : event.key, code: secret ? "" : event.code, repeat: event.repeat,
      modifiers: modifiers(event), ...(secret ? { secret } : {}),
    };
  }

  function selectedText(element) {
    if (demotape.secrets.isSecret(element)) return demotape.secrets.REDACTED;
    if (typeof own(element).selectionStart === "number") {
      return element.value.slice(element.selectionStart, element.selectionEnd);
    }
    return String(getSelection() ?? "");
  }

  function onClipboard(event) {
    const element = targetOf(event);
    const text = event.type === "paste" ? pastedText(event, element) : selectedText(element);
    sendOrBegin("text", event, element, { text: text.slice(0, TEXT_LIMIT) });
  }

  function pastedText(event, element) {
    if (demotape.secrets.isSecret(element)) return demotape.secrets.REDACTED;
    return event.clipboardData?.getData("text/plain") ?? "";
  }

  /** What was pressed may lead to another document. */
  function noteLeading() {
    demotape.sending.stir("leading");
    demotape.snapshotCache.postpone();
  }

  const HANDLERS = {
    pointerdown: onPointerDown,
    pointerup: (event) => {
      onPointer(event);
      gestures.endPointer();
    },
    click: onClick, dblclick: onClick, auxclick: onClick, contextmenu: onClick,
    keydown: onKeyDown,
    keypress: () => gestures.extendKey(),
    keyup: () => gestures.endKey(),
    compositionend: () => gestures.endAfterTask(gestures.activeOf("text")),
    // Text that no key brings: dictation, an input method, a menu of the browser, a driver.
    beforeinput: onBeforeInput,
    input: (event) => values.onValue(event, { input_type: event.inputType ?? "" }),
    change: (event) => values.onValue(event, {}),
    submit: (event) => {
      const element = targetOf(event);
      if (!event.isTrusted) return beginSynthetic(event, element, {});
      send("submit", event, element, {}, { gesture: gestures.ownerOf(event, element) ?? demotape.shared.gesture });
    },
    copy: onClipboard, cut: onClipboard, paste: onClipboard,
    dragstart: onPointer, dragend: (event) => {
      onPointer(event);
      gestures.endPointer();
    },
    drop: onDrop,
    wheel: scrolling.onWheel, scroll: scrolling.onScroll, scrollend: scrolling.onScroll,
    pointermove: (event) => {
      if (!event.buttons) endLostPointer();
      hovering.onPointerMove(event);
    },
    focusin: (event) => typing.listenToEditContext(targetOf(event)),
    cancel: (event) => gestures.chooserOpener(targetOf(event), true),
  };

  /** Send an event as part of the gesture that it belongs to; else it begins one. */
  function sendOrBegin(kind, event, element, data) {
    const owner = gestures.ownerOf(event, element);
    if (owner) return void send(event.type, event, element, data, { gesture: owner });
    typing.noteValueBefore(element);
    gestures.endAfterTask(begin(kind, event, element, data));
  }

  /** What a key brings is reported by `input`; what nothing else has announced begins here. */
  function onBeforeInput(event) {
    const element = targetOf(event);
    if (gestures.ownerOf(event, element)) return;
    typing.noteValueBefore(element);
    const gesture = begin("text", event, element, { input_type: event.inputType });
    if (!event.isComposing) gestures.endAfterTask(gesture);
  }

  function onPointerDown(event) {
    hovering.settle();
    const element = targetOf(event);
    const { id } = begin("pointer", event, element, pointerData(event));
    scrolling.mayScroll(id, element, Infinity);
    typing.noteAct(element);
    if (own(element)?.closest(LEADING)) noteLeading();
  }

  /** A button that is no longer down was released where this page did not hear of it. */
  function endLostPointer() {
    const pointer = gestures.activeOf("pointer");
    if (!pointer || pointer.released) return;
    gestures.endAfterTask(pointer);
    scrolling.mayScroll(pointer.id, pointer.element);
  }

  function onPointer(event) {
    const element = targetOf(event), data = event.type.startsWith("drag") ? point(event) : pointerData(event);
    const owner = gestures.ownerOf(event, element);
    if (owner) scrolling.mayScroll(owner, element);
    if (owner) send(event.type, event, element, data, { gesture: owner });
  }

  function onClick(event) {
    const element = targetOf(event);
    if (!event.isTrusted) return onSyntheticClick(event, element);
    gestures.noteChooser(element, event);
    sendOrBegin("pointer", event, element, { ...pointerData(event), detail: event.detail });
  }

  function onSyntheticClick(event, element) {
    scriptedClick = null; // a driver's: what it sets is an action
    beginSynthetic(event, element, { detail: event.detail });
  }

  /** A synthetic event of an action that a driver has announced; a script's click has no point. */
  function beginSynthetic(event, element, data) {
    gestures.endAfterTask(begin("text", event, element, data));
  }

  /** A drop of what is dragged in the page ends the drag; of what comes from elsewhere it is a gesture. */
  function onDrop(event) {
    const element = targetOf(event), names = Array.from(event.dataTransfer?.files ?? [], (file) => file.name);
    sendOrBegin("drop", event, element, { ...point(event), ...(names.length ? { files: names } : {}) });
  }

  function onKeyDown(event) {
    const element = targetOf(event);
    if (!(event.key ?? "")) return beginAutofill(event, element);
    attempt(() => demotape.shared.pendingText?.flush(true));
    const value = typing.noteValueBefore(element);
    const id = (event.repeat && gestures.extendKey()) || null;
    if (id) send("keydown", event, element, keyData(event, element), { gesture: id });
    const gesture = id ?? begin("key", event, element, keyData(event, element)).id;
    if (scrolling.isScrollKey(event)) scrolling.mayScroll(gesture, element);
    typing.onKey(event, element, gesture, value);
    if (event.key === "Enter" && own(element)?.closest(ENTERED)) noteLeading();
    if (event.key === "Tab") demotape.later(() => tab?.defaultPrevented && sendPreventedKey(event, element, gesture), 0);
  }

  let tab = null; // the newest press of that key, as the browser dispatches it

  /** The page has taken a Tab, as grids and editors do: it is more than a step to the next field. */
  function sendPreventedKey(event, element, gesture) {
    send("keydown", event, element, { ...keyData(event, element), prevented: true }, { gesture });
  }

  /** The browser fills a field in: it says so by a plain event of this type, without a key. */
  function beginAutofill(event, element) {
    const { timeStamp } = event;
    gestures.endAfterTask(begin("autofill", { type: "autofill", timeStamp }, element, {}));
  }

  // Where letters may come that are secret.
  const ASKING = new Set(["keydown", "beforeinput", "input", "change", "copy", "cut", "paste"]);

  const SYNTHETIC = new Set(["click", "dblclick", "input", "change", "submit"]); // that announced actions may consist of

  const isDriversAction = (event) => demotape.driven?.isAction(event) ||
    (SYNTHETIC.has(event.type) && demotape.driverActions?.isPart());

  let scriptedClick = null; // what a script has clicked in this task: the browser's events of that are trusted

  const isClickedByScript = (element) => scriptedClick === element;

  /** A script clicks: it opens the chooser of a file field in the gesture that goes on, or sets a box for nobody. */
  function noteScriptedClick(element, event) {
    gestures.noteChooser(element, event);
    scriptedClick = element;
    demotape.later(() => (scriptedClick = null), 0);
  }

  const ACTING = new Set(["pointerdown", "keydown", "beforeinput", "drop", "wheel"]); // trusted input that a page may respond to
  const NO_ACTS = new Set(["pointermove", "keypress", "keyup", "compositionend", "focusin", "cancel"]);

  /** One listener for all; nothing that the page dispatches itself. */
  function onEvent(event) {
    if (event.type === "click" && !event.isTrusted) attempt(() => noteScriptedClick(targetOf(event), event));
    if (!event.isTrusted && !isDriversAction(event)) return;
    if (event.isTrusted && ACTING.has(event.type)) attempt(() => demotape.driverActions?.onTrusted(event));
    if (event instanceof KeyboardEvent && event.key === "Tab" && event.type === "keydown") tab = event;
    if (event instanceof WheelEvent) scrolling.watch(event); // it may have been heard another way already
    if (demotape.firstListener?.isRepeated(event)) return;
    if (event.type === "pointermove") {
      demotape.shared.moved = demotape.now();
      demotape.sending.stir("acting"); // all else is told itself
    }
    if (ASKING.has(event.type)) attempt(() => demotape.secrets.doubt(targetOf(event)));
    attempt(() => HANDLERS[event.type](event));
    if (NO_ACTS.has(event.type)) return;
    demotape.shared.acted = demotape.now();
    stir();
  }

  // Things that change how the page looks without changing its DOM: what the pointer is over, what is pressed, what opens.
  const STIRRING = [
    "pointerover", "keyup", "resize", "hashchange", "beforetoggle", "toggle", "fullscreenchange", "transitionrun",
    "transitionend", "animationstart", "animationend", "contentvisibilityautostatechange",
  ];
  const MOVELESS = new Set(["pointerover", "keyup"]);
  const LIFTING = ["beforetoggle", "toggle", "fullscreenchange"];
  function stir(event) {
    if (event && !MOVELESS.has(event.type)) demotape.paintTracking.change();
    if (LIFTING.includes(event?.type)) demotape.snapshotCache.lift();
    demotape.shared.stirred++;
    demotape.idleSnapshot.followSecrets();
    demotape.snapshotCache.scheduleWarming();
  }

  let ending = new AbortController(); // takes all listeners away
  const quietly = () => ({ capture: true, passive: true, signal: ending.signal });

  function listen() {
    demotape.steering?.listen(ending.signal); // where the recorder has keys of its own
    demotape.firstListener?.listen(ending.signal); // and a listener of its own in the page's world
    demotape.driven?.listen(ending.signal);
    for (const type of Object.keys(HANDLERS)) window.addEventListener(type, onEvent, quietly());
    for (const type of STIRRING) window.addEventListener(type, stir, quietly());
  }

  /** Some events do not leave a shadow root: they are heard at the root itself. */
  function listenInside(root) {
    for (const type of ["change", "submit", "scroll", "scrollend"]) {
      root.addEventListener(type, onEvent, quietly());
    }
    for (const type of LIFTING) root.addEventListener(type, stir, quietly());
    listenForLoads(root);
  }

  /** A frame, picture or style sheet that has loaded changes what is shown without a mutation. */
  function listenForLoads(scope) {
    own(scope).addEventListener("load", ({ target }) => {
      if (!demotape.isElement(target)) return;
      demotape.snapshotCache.forget(target);
      demotape.paintTracking.change();
      stir();
    }, quietly());
  }

  /**
   * Listen, and listen again when document.open() has taken all listeners away. `sendSecret(field, value)`, where given,
   * is told what secret fields hold, before the event that tells of it; `sendAheadParts(group, chunks, rows)`, where given,
   * what later snapshots are made of.
   */
  function start(sender, sendSecret = null, sendAheadParts = null) {
    if (stopped) demotape.snapshotCache.renew();
    stopped = false;
    demotape.send = sender;
    demotape.sendSecret = sendSecret;
    demotape.sendAheadParts = sendAheadParts;
    listen();
    listenForLoads(document);
    demotape.styleSheets.watchSwitches(document);
    reopened.observe(document, { childList: true });
    if (own(document).readyState === "loading") addEventListener("DOMContentLoaded", onReady, { once: true });
    else {
      attempt(() => demotape.snapshotCache.findScrolled(document));
      onReady();
    }
    addEventListener("load", demotape.snapshotCache.scheduleWarming, { once: true, signal: ending.signal });
  }

  /** There is something to look at. A frame group below another tells of itself at once: that one cannot copy it. */
  function onReady() {
    if (demotape.shared.rootFrame === window && window !== window.top) {
      demotape.idleSnapshot.sendReport();
      demotape.snapshotCache.poll();
    }
    demotape.snapshotCache.scheduleWarming();
  }

  const reopened = new MutationObserver(listen);
  let stopped = false;

  /** Hear nothing more; `start` begins anew, and sends again what it had sent before. */
  function stop() {
    attempt(() => demotape.paintTracking.leave());
    stopped = true;
    demotape.send = () => {};
    ending.abort();
    ending = new AbortController();
    reopened.disconnect();
    demotape.snapshotCache.renew();
    hovering.stop();
    typing.stop();
    demotape.idleSnapshot.forget();
  }

  const isStopped = () => stopped;

  /** Send what is known by now and would be sent soon: the recording may end, or the page be left. */
  function flush() {
    attempt(() => demotape.shared.pendingText?.flush(false));
    attempt(scrolling.flush);
    attempt(hovering.settle);
  }

  return {
    start, stop, isStopped, flush, listenInside, hear: onEvent, begin, targetOf, point, pointerData, modifiers, isClickedByScript,
  };
})();
