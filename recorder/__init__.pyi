from .browser.session import Recorder as Recorder
from .reader import Recording as Recording
