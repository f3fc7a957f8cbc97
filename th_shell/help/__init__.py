"""The help of the prompt on names and values."""
