"""Pictures: screenshots, frames of a video, and what differs between them."""
