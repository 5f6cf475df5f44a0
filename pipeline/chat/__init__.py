"""Chat: logs of meeting and chat tools become turns among the actions."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
