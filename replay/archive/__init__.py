"""What a session's requests were answered with: reading and writing archives."""
