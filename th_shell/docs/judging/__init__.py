"""From what examples have printed to verdicts."""
