// What the toolbar says of the recording: one table for the service worker and the offscreen document.

/** Phases in which actions are taken in; when the offscreen document ends in one of them, the recording was interrupted. */
export const ACTIVE_PHASES = new Set(["starting", "recording", "delayed", "paused", "stopping"]);

const SIGNS = {
  idle: { text: "", title: "demotape: open the panel" },
  starting: { text: "", title: "demotape: the recording starts" },
  recording: { text: "REC", title: "demotape: recording" },
  delayed: { text: "WAIT", title: "demotape: waiting for the disk" },
  paused: { text: "II", title: "demotape: paused" },
  stopping: { text: "END", title: "demotape: the recording stops" },
  silent: { text: "?", title: "demotape: no response; it is not known whether anything is recorded" },
  interrupted: { text: "!", title: "demotape: the recording was interrupted; open the panel" },
  failed: { text: "!", title: "demotape: the recording ended because writing failed; open the panel" },
  closed: { text: "!", title: "demotape: the recording ended with its window; open the panel" },
};

/** The sign of a phase, for the toolbar. */
export const signOf = (phase) => SIGNS[phase];

/** Whether a text on the toolbar says that a recording is in progress. */
export const isActiveSign = (text) => [...ACTIVE_PHASES, "silent"].some((phase) => text !== "" && SIGNS[phase].text === text);
