"""One HTML file that shows runs offline: turns, pictures, rendered pages, requests."""

from .writing import Bundle as Bundle
from .writing import write_bundle as write_bundle
