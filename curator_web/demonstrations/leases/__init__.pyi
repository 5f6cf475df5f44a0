from .leases import assign as assign
from .leases import take_next as take_next
