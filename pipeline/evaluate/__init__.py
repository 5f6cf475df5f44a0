"""Scores of a model's predictions over an export, and of one annotator against another."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
