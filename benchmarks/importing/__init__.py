"""Importers against what the tools themselves say: actions, targets, values, times."""
