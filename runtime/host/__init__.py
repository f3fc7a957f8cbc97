"""What Lua asks of Python."""
