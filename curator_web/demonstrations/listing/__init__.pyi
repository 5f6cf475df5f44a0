from .listing import Filter as Filter
from .listing import found_ids as found_ids
from .listing import matching_ids as matching_ids
from .listing import read_filter as read_filter
