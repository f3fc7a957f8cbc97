"""Bulk work: loops of numpy, of C libraries and of Lua, and the threads that share it."""
