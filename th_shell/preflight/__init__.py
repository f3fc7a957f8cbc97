"""``th --check``: what programs need that is not here, read from their text, without running it."""
