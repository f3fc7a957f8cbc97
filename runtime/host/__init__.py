"""The Python functions that the Lua half of the runtime calls."""
