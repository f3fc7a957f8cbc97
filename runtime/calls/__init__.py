"""From a call in Lua to its implementation: the language of forms, the table of operations."""
