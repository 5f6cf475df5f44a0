// In the page's main world: answers whether a driver's script is on the stack, for the capture script, which does not
// see functions of this world. Scripts of the page have an address, and what they evaluate says where that was done,
// except for scripts that they insert; what a driver evaluates has none, or one of the driver's. Where the event's detail
// is "named", the page has inserted scripts, and only the latter counts. With the detail "page" it answers whether a
// script with an address is on the stack. The answer to the event is that its default is prevented.
//
// All that it uses is taken before the page can change it, unless the page was loaded before.
(() => {
  "use strict";
  const NAME = "STACKS_EVENT";
  const LOCATION = /(?:\(|at |, )([^(),]*?):\d+:\d+/g;
  const NAMED = /^(?:pptr:.*|.*_evaluation_script__)$/;
  const UNNAMED = /^(?:<anonymous>)?$/;
  const OURS = /\bat (?:answerStacks|hasDriver|scriptKinds)\b/;
  const { apply } = Reflect;
  const { exec } = RegExp.prototype;
  const { split } = String.prototype;
  const { preventDefault } = Event.prototype;
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  const { getOwnPropertyDescriptor } = Object;
  const detailOf = getOwnPropertyDescriptor(CustomEvent.prototype, "detail").get;
  const StackError = Error;

  /** Which kinds of scripts are on the stack: with a driver's name, without an address, with another address. */
  function scriptKinds() {
    const kinds = { named: false, unnamed: false, other: false };
    if (getOwnPropertyDescriptor(StackError, "prepareStackTrace")) return kinds; // the page would see that it was asked
    const lines = apply(split, new StackError().stack, ["\n"]);
    for (let index = 1; index < lines.length; index++) {
      if (apply(exec, OURS, [lines[index]])) continue;
      LOCATION.lastIndex = 0;
      for (let match; (match = apply(exec, LOCATION, [lines[index]]));) {
        if (apply(exec, NAMED, [match[1]])) kinds.named = true;
        else if (apply(exec, UNNAMED, [match[1]])) kinds.unnamed = true;
        else kinds.other = true;
      }
    }
    return kinds;
  }

  function hasDriver(onlyNamed) {
    const { named, unnamed, other } = scriptKinds();
    return !other && (named || (unnamed && !onlyNamed));
  }

  function answerStacks(event) {
    const detail = apply(detailOf, event, []);
    if (detail === "end") apply(removeEventListener, window, [NAME, answerStacks, true]); // the recording has ended
    else if (detail === "page" ? scriptKinds().other : hasDriver(detail === "named")) apply(preventDefault, event, []);
  }

  apply(addEventListener, window, [NAME, answerStacks, true]);
})();
