"""What the prompt says of names and values."""
