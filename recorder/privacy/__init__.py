"""What keeps secrets out of a recording, and the archives (HAR, MHTML) that are written without them."""
