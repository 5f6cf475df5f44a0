// Actions that a driver announces (`Recorder.action`): what a script of the page's world does cannot be distinguished
// from the page's own scripts, unless the driver says when it acts. Then synthetic events and controls that have other
// values afterwards are its actions; not what scripts of the page with an address dispatch, nor what changes after the
// driver has used trusted input, to which the page may respond.
"use strict";

demotape.driverActions = demotape.ofGroup("driverActions", function () {
  const { shared } = demotape;
  const { stateOf } = demotape.markup;
  let announced = null; // what was shown before the action that is going on, and the controls' values then

  const isGoingOn = () => announced !== null;

  /** Whether a synthetic event is part of an announced action. */
  const isPart = () => isGoingOn() && !demotape.driven.isPageOnStack();

  /** The driver begins to act. */
  function begin() {
    const snapshot = demotape.idleSnapshot.capture();
    announced = { snapshot, values: currentValues(), acted: new Set() };
  }

  const currentValues = () => new Map(Array.from(shared.controls, (control) => [control, stateOf(control)]));

  /** Trusted input has come: what has changed by then was the driver's, what changes later may be the page's. */
  function onTrusted(event) {
    if (!announced) return;
    sendChanges(event.timeStamp);
    announced.values.clear();
  }

  /** An event of an element is sent: its new value is explained. */
  const noteActed = (element) => void announced?.acted.add(element);

  /** The driver has acted: controls with other values that no event explains are changes of its own. */
  function end() {
    if (!announced) return;
    sendChanges(performance.now());
    announced = null;
  }

  function sendChanges(timeStamp) {
    const { snapshot, values, acted } = announced;
    if (!values.size) return;
    demotape.snapshotCache.update();
    for (const [control, value] of values) {
      if (control.isConnected && !acted.has(control) && stateOf(control) !== value) demotape.values.sendChange(control, snapshot, timeStamp);
    }
  }

  return { isPart, begin, end, noteActed, onTrusted };
});
