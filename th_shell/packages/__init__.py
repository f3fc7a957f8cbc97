"""``th --install``: brings packages of Lua files to a folder where `require` finds them."""
