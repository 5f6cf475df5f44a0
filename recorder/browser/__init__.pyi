from .launching import has_display as has_display
from .launching import launch as launch
