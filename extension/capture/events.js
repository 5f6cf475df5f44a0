// Receives every trusted event before the page does, and sends it with the state before its effect; also synthetic
// events of a driver if the recorder can detect them (driven.js).
//
// A gesture is what the hand does at once: a press of a button with its click, a key with the text it enters, a turn
// of the wheel. Its first event carries the snapshot; the events that follow from it name it and carry none.
"use strict";

demotape.events = (function () {
  const WHEEL_GAP = 400; // ms without a wheel event that end a turn of the wheel
  const SCROLL_EVERY = 100; // ms between scroll events of one element
  const GESTURE_SETTLE_MS = 150; // ms after a gesture in which the page reacts to it
  const HOVER_IDLE_MS = 350; // ms that the pointer must rest for a hover
  const HOVER_SNAPSHOT_EVERY = 120; // ms between snapshots of a sweeping pointer
  const HOVER_CAPTURE_MS = 30; // ms from its coming over something to one: who presses at once is not kept waiting
  const TEXT_LIMIT = 20000;
  const LEADING = "a[href]:not([href^='#']), area[href], form button:not([type=button]), form input[type=submit]";
  const ENTERED = `${LEADING}, form input`;

  const { own, idleSnapshot } = demotape;
  const { send, attempt } = demotape.sending;

  const modifiers = (event) =>
    ["Alt", "Control", "Meta", "Shift"].filter((name) => event.getModifierState?.(name));

  /** Send the first event of a gesture with the frame group's snapshot; `set`: a control that has its new value already. */
  function begin(type, event, element, data, set = null) {
    const { shared } = demotape;
    const scrolled = attempt(() => demotape.paintTracking.findScrolls(element), 0);
    const snapshot = set ? attempt(() => demotape.snapshot.takeWithOldValue(set)) : snapshotNow();
    const shown = attempt(() => demotape.paintTracking.targetPainting(element, scrolled));
    shared.gesture = send(type, event, element, data, { snapshot, gesture: null, shown });
    shared.gestureType = type;
    if (shown) attempt(() => demotape.paintTracking.follow(shared.gesture, shown, element));
  }

  const snapshotNow = () => attempt(demotape.snapshot.take);

  /** The innermost element that an event is about, also inside shadow roots. */
  function targetOf(event) {
    return insideClosedRoots(outerTargetOf(event), event);
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

  function valueData(element) {
    const { localName } = own(element);
    if (localName === "input" && element.type === "file") {
      return { files: Array.from(element.files, (file) => file.name) };
    }
    if (localName === "input" && (element.type === "checkbox" || element.type === "radio")) {
      return { checked: element.checked, value: element.value };
    }
    const secret = demotape.secrets.isSecret(element);
    if (secret) demotape.secrets.report(element);
    const data = { value: demotape.secrets.valueOf(element).slice(0, TEXT_LIMIT), ...(secret ? { secret } : {}) };
    if (localName !== "select") return data;
    return { ...data, label: Array.from(element.selectedOptions, (option) => option.label).join(", ") };
  }

  function selectedText(element) {
    if (demotape.secrets.isSecret(element)) return demotape.secrets.REDACTED;
    if (typeof own(element).selectionStart === "number") {
      return element.value.slice(element.selectionStart, element.selectionEnd);
    }
    return String(getSelection() ?? "");
  }

  const wheel = { last: -Infinity };
  function onWheel(event) {
    const fresh = event.timeStamp - wheel.last > WHEEL_GAP;
    wheel.last = event.timeStamp;
    if (!fresh) return;
    // The browser scrolls before it tells: the state before is what was seen at rest, unless that has changed since.
    const { shared } = demotape;
    attempt(demotape.snapshotCache.update);
    const { snapshot, version, capturedAt } = idleSnapshot.lastSeen;
    const atRest = snapshot && version === shared.version;
    const seen = atRest ? snapshot : snapshotNow();
    const data = { ...point(event), modifiers: modifiers(event) };
    const extras = { snapshot: seen, gesture: null, shown: demotape.paintTracking.documentPainting(atRest ? capturedAt : undefined) };
    shared.gesture = send("wheel", event, targetOf(event), data, extras);
    shared.gestureType = "wheel";
    forgetHover();
  }

  const lastScroll = new WeakMap();
  function onScroll(event) {
    const element = targetOf(event);
    demotape.shared.scrolled.add(element);
    demotape.paintTracking.scrolled(element);
    if (event.type === "scroll" && event.timeStamp - (lastScroll.get(element) ?? -Infinity) < SCROLL_EVERY) return;
    lastScroll.set(element, event.timeStamp);
    if (event.type === "scrollend") demotape.snapshotCache.scheduleWarming(); // look at it again at rest
    send("scroll", event, element, { scroll: { x: own(element).scrollLeft, y: own(element).scrollTop } });
  }

  const hover = { cancel: null, cancelCapture: null, cancelRefresh: null, stale: 0, target: null };
  /** The pointer truly moves (the browser tells of no move when the page changes beneath a pointer that rests). */
  function onPointerMove(event) {
    if (event.target === hover.target || event.pointerType !== "mouse" || event.buttons) return;
    hover.target = event.target;
    hover.cancel?.();
    const target = demotape.elements.describe(targetOf(event), event);
    const { snapshot } = idleSnapshot.lastSeen;
    const before = snapshot?.rows.some((row) => row.entry.uid === target.uid) ? snapshot : idleSnapshot.capture();
    const data = { ...pointerData(event), button: 0 };
    const painting = demotape.paintTracking.documentPainting(idleSnapshot.lastSeen.capturedAt);
    hover.cancel = demotape.later(() => attempt(() => onPointerIdle(event, target, data, before, painting)), HOVER_IDLE_MS);
    hover.cancelCapture ??= demotape.later(captureUnderPointer, HOVER_CAPTURE_MS);
  }

  /** Look at the page with the pointer where it is: the state before it moves on. */
  function captureUnderPointer() {
    hover.cancelCapture = null;
    if (demotape.now() - idleSnapshot.lastSeen.capturedAt > HOVER_SNAPSHOT_EVERY) attempt(idleSnapshot.capture);
  }

  /** The pointer rests: a hover, if the page shows something else than before. */
  function onPointerIdle(event, target, data, before, painting) {
    if (shown(idleSnapshot.capture()) === shown(before)) return;
    send("hover", event, null, { ...data, changed: true }, { snapshot: before, gesture: null, target, shown: painting });
  }

  /** A gesture makes what was seen before it stale. A timer that runs already is left: each costs the person's time. */
  function forgetHover() {
    for (const cancel of [hover.cancel, hover.cancelCapture]) cancel?.();
    hover.cancel = hover.cancelCapture = null;
    idleSnapshot.lastSeen.snapshot = null;
    hover.stale = performance.now();
    hover.cancelRefresh ??= demotape.later(refresh, GESTURE_SETTLE_MS);
  }

  function refresh() {
    const wait = hover.stale + GESTURE_SETTLE_MS - performance.now();
    hover.cancelRefresh = wait > 0 ? demotape.later(refresh, wait) : null;
    if (wait <= 0) attempt(idleSnapshot.capture);
  }

  const shown = ({ rows }) => rows.filter((row) => row.visible).map((row) => row.entry.uid).join();

  function onClipboard(event) {
    const element = targetOf(event);
    const text = event.type === "paste" ? pastedText(event, element) : selectedText(element);
    send(event.type, event, element, { text: text.slice(0, TEXT_LIMIT) });
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
    pointerdown: (event) => {
      forgetHover();
      const element = targetOf(event);
      begin("pointerdown", event, element, pointerData(event));
      if (own(element)?.closest(LEADING)) noteLeading();
    },
    pointerup: (event) => send("pointerup", event, targetOf(event), pointerData(event)),
    click: onClick, dblclick: onClick, auxclick: onClick, contextmenu: onClick,
    keydown: (event) => {
      forgetHover();
      const element = targetOf(event);
      if (event.repeat) send("keydown", event, element, keyData(event, element));
      else begin("keydown", event, element, keyData(event, element));
      if (event.key === "Enter" && own(element)?.closest(ENTERED)) noteLeading();
    },
    // Text that no key brings: dictation, an input method, a menu of the browser.
    beforeinput: (event) => {
      const fromKeys = ["keydown", "beforeinput"].includes(demotape.shared.gestureType);
      if (!fromKeys) begin("beforeinput", event, targetOf(event), { input_type: event.inputType });
    },
    input: (event) => onValue(event, { input_type: event.inputType ?? "" }),
    change: (event) => onValue(event, {}),
    submit: (event) => send("submit", event, targetOf(event), {}),
    copy: onClipboard, cut: onClipboard, paste: onClipboard,
    dragstart: (event) => send("dragstart", event, targetOf(event), point(event)),
    drop: (event) => send("drop", event, targetOf(event), point(event)),
    wheel: onWheel, scroll: onScroll, scrollend: onScroll,
    pointermove: onPointerMove,
  };

  function onValue(event, data) {
    const element = targetOf(event);
    const fields = { ...valueData(element), ...data };
    if (event.isTrusted || !demotape.driven.begins(event)) return void send(event.type, event, element, fields);
    forgetHover();
    begin(event.type, event, element, fields, element);
  }

  function onClick(event) {
    send(event.type, event, targetOf(event), { ...pointerData(event), detail: event.detail });
  }

  // Where letters may come that are secret.
  const ASKING = new Set(["keydown", "beforeinput", "input", "change", "copy", "cut", "paste"]);

  /** One listener for all; nothing that the page dispatches itself. */
  function onEvent(event) {
    if (!event.isTrusted && !demotape.driven?.isAction(event)) return;
    if (demotape.firstListener?.isRepeated(event)) return;
    if (event.type === "pointermove") {
      demotape.shared.moved = demotape.now();
      demotape.sending.stir("acting"); // all else is told itself
    }
    if (ASKING.has(event.type)) attempt(() => demotape.secrets.doubt(targetOf(event)));
    attempt(() => HANDLERS[event.type](event));
    if (event.type === "pointermove") return;
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
    if (demotape.shared.rootFrame === window && window !== window.top) idleSnapshot.sendReport();
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
    for (const cancel of [hover.cancel, hover.cancelCapture, hover.cancelRefresh]) cancel?.();
    hover.cancelCapture = hover.cancelRefresh = null;
    idleSnapshot.forget();
  }

  const isStopped = () => stopped;

  return { start, stop, isStopped, listenInside, hear: onEvent };
})();
