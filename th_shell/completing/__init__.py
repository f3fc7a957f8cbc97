"""Completion of inputs, for the prompt and for others that let a user type Lua."""
