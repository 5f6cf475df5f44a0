"""What the pipeline made and keeps beside a recording, and by what it knows that it is still good."""
