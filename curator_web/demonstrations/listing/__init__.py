"""Lists, comments, deletion and labels of judges: what a team does with many demonstrations."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
