"""The formats of exports: each makes samples of a demonstration and writes them."""
