"""Work in the background: the queue, uploads on their way in, exports."""
