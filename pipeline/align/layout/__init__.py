"""Where the page is in the frames, and when."""
