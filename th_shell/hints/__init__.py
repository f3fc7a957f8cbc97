"""The hints of the prompt under an error: the line it is about, and what would work."""
