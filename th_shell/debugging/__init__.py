"""The debugger: at a prompt, and for editors."""
