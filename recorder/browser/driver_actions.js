// Actions that a driver announces (`Recorder.action`): what a script of the page's world does cannot be distinguished
// from the page's own scripts, unless the driver says when it acts. Then synthetic events and controls that have other
// values afterwards are its actions.
"use strict";

demotape.driverActions = demotape.ofGroup("driverActions", function () {
  const { shared } = demotape;
  const { stateOf } = demotape.markup;
  let announced = null; // what was shown before the action that is going on, and the controls' values then

  const isGoingOn = () => announced !== null;

  /** The driver begins to act. */
  function begin() {
    const snapshot = demotape.idleSnapshot.capture();
    announced = { snapshot, values: new Map(Array.from(shared.controls, (control) => [control, stateOf(control)])), acted: new Set() };
  }

  /** An event of an element is sent: its new value is explained. */
  const noteActed = (element) => void announced?.acted.add(element);

  /** The driver has acted: controls with other values that no event explains are changes of its own. */
  function end() {
    if (!announced) return;
    const { snapshot, values, acted } = announced;
    announced = null;
    demotape.snapshotCache.update();
    for (const [control, value] of values) {
      if (control.isConnected && !acted.has(control) && stateOf(control) !== value) demotape.values.sendChange(control, snapshot);
    }
  }

  return { isGoingOn, begin, end, noteActed };
});
