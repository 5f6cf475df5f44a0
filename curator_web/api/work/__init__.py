"""The JSON API of what is to be done: uploads, tasks, pairs, training, jobs."""
