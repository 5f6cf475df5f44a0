from .training import Encoder as Encoder
from .training import Trained as Trained
from .training import train as train
