"""Lists of work: imports, exports, tasks, pairs, training, judges."""
