"""What a person touches: the command line, the prompt, the documentation runner."""
