"""Recorded tasks of demotape as environments; it needs the address of `demotape replay serve --cdp`, not demotape."""
