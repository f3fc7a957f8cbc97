"""Runs the examples of documentation pages: page -> examples -> evaluation -> verdicts -> report.

`reading` finds the code blocks of a page, and in them the inputs and documented outputs; `settings`
has the rules for them. `running` runs the inputs, `judging` compares what they have printed with
the page, and `reporting` tells of it. `cli` is the command, `checking` what it does with a page.
"""
