"""The browser under recording: finding and starting one, its contexts and tabs, what it tells over CDP."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
