"""The prompt at a terminal, by prompt_toolkit."""
