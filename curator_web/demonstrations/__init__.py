"""Demonstrations in review: the library, lists, edits, workflow, leases, comments, figures. No web."""
