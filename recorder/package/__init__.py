"""What the extension hands over, made a recording."""
