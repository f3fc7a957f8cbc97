"""Runs the examples of documentation pages: page -> examples -> evaluation -> verdicts.

`page` finds the code blocks of a page, `examples` the inputs and documented outputs in them;
`evaluation` runs the inputs, and `verdicts` judges what they have printed.
"""
