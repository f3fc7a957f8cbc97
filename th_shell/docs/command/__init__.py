"""The command line of th-docs: its options, the pages it means, and how they are run."""
