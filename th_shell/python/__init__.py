"""``th --python``: Python programs, and a Python prompt, whose torch is this project's."""
