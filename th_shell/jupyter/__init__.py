"""The Jupyter kernel: cells of Lua in notebooks; and `th --jupyter install`."""
