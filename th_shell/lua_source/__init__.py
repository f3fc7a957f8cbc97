"""Reads whole Lua programs, for the editor, `%save` and `th --check`; nothing of them is run."""
