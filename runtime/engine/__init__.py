"""The engine: runs Lua for those who hold an `Engine`, and passes values and errors to them."""
