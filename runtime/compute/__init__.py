"""How bulk work is done: loops of numpy, of C libraries and of Lua, and who does it."""
