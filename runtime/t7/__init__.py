"""Files of Torch7 (.t7) without Lua: `load` and `save` in files.py, and what they give and take."""
