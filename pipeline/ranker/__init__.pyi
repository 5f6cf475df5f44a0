from .training import Trained as Trained
from .training import train as train
