from .annotators import Agreement as Agreement
from .annotators import agreement as agreement
from .scoring import evaluate as evaluate
