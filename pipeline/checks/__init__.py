"""Checks: what a reviewer should look at, with a reason and sometimes a fix."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
