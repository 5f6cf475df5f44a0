"""Serving an archive: matching requests and answering them."""
