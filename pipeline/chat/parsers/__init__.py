"""One parser for each kind of chat log, and the list of them."""
