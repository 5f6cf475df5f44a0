"""Adapters that announce the actions of drivers (`Recorder.action`). They import none of the drivers' packages."""
