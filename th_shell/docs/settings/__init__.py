"""The settings of examples, from comments of the page, the file beside it, and its folder."""
