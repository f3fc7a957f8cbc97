"""What the prompt says under an error: the line it is about, and what would work."""
