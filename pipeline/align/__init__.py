"""Alignment: which screenshot shows each turn's state, and where the turn is in the video."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
