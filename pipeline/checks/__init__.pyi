from .finding import CHECKS as CHECKS
from .finding import KINDS as KINDS
from .finding import all_kinds as all_kinds
from .finding import find as find
from .finding import stage as stage
from .material import Finding as Finding
from .material import Material as Material
from .plugged import Check as Check
