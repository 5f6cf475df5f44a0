// In the page's main world, before its first instruction: receives presses before the page's listeners do, for a
// capture script that is added later, and makes it capture immediately. A window that a page opens and keeps a hold of
// runs as soon as any who attached lets it go (`Runtime.runIfWaitingForDebugger`), which may be before it has been sent
// ours.
//
// All that it uses is taken before the page can change it; it tells by an event whose name (`NAME`) the page cannot know.
((name) => {
  "use strict";
  const TYPES = ["pointerdown", "pointerup", "click", "dblclick", "auxclick", "contextmenu", "keydown", "keyup",
    "beforeinput", "input", "change", "submit", "copy", "cut", "paste", "dragstart", "dragend", "drop", "wheel", "keypress"];
  const READ = ["type", "timeStamp", "isTrusted", "detail", "clientX", "clientY", "button", "buttons", "pointerType", "pointerId",
    "deltaX", "deltaY", "isComposing",
    "key", "code", "repeat", "altKey", "ctrlKey", "metaKey", "shiftKey", "inputType"];
  const { apply } = Reflect;
  const { stringify } = JSON;
  const ReportEvent = CustomEvent;
  const { dispatchEvent, addEventListener } = EventTarget.prototype;
  const { composedPath, preventDefault, stopImmediatePropagation } = Event.prototype;
  const { getData } = DataTransfer.prototype;
  const getterOf = (kind, key) => Object.getOwnPropertyDescriptor(kind.prototype, key)?.get;
  const clipboard = getterOf(ClipboardEvent, "clipboardData");
  const dragged = getterOf(DragEvent, "dataTransfer"), filesOf = getterOf(DataTransfer, "files");
  const fileCount = getterOf(FileList, "length"), fileName = getterOf(File, "name"), { item } = FileList.prototype;
  // A driver that has set the page's clock, as Playwright's, tells its own times of events.
  const isBrowsers = (get) => apply(Function.prototype.toString, get, []).includes("[native code]");
  const getters = [Event, UIEvent, MouseEvent, PointerEvent, WheelEvent, KeyboardEvent, InputEvent]
    .flatMap((kind) => READ.map((key) => ({ key, get: getterOf(kind, key) }))).filter(({ get }) => get && isBrowsers(get));

  /** Tell the capture script; whether it is there (`detail` empty), or keeps what it was told of from the page. */
  const report = (target, detail) =>
    !apply(dispatchEvent, target, [new ReportEvent(name, { detail, cancelable: true, composed: true })]);

  function droppedNames(transfer) {
    const files = apply(filesOf, transfer, []), names = [];
    for (let index = 0; index < apply(fileCount, files, []); index++) {
      names[index] = apply(fileName, apply(item, files, [index]), []);
    }
    return names;
  }

  function onEvent(event) {
    if (!event.isTrusted) return;
    const fields = { isTrusted: true };
    for (let index = 0; index < getters.length; index++) {
      try {
        fields[getters[index].key] = apply(getters[index].get, event, []);
      } catch {
        // another kind of event
      }
    }
    if (fields.type === "paste") fields.pasted = apply(getData, apply(clipboard, event, []), ["text/plain"]);
    if (fields.type === "drop") fields.files = droppedNames(apply(dragged, event, []));
    if (!report(apply(composedPath, event, [])[0], stringify(fields))) return;
    apply(preventDefault, event, []);
    apply(stopImmediatePropagation, event, []);
  }

  if (report(window, "")) return; // it was here first, and is not held
  for (const type of TYPES) apply(addEventListener, window, [type, onEvent, { capture: true, passive: type === "wheel" }]);
})("NAME");
