"""The options of th-docs that say what is reported, and how."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from th_shell.docs.reporting.diffs import DIFFS
from th_shell.docs.reporting.report import View
from th_shell.docs.reporting.reporter import ReportOptions
from th_shell.docs.reporting.styles import style_for


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    group = parser.add_argument_group("report")
    group.add_argument(
        "-v", "--verbose", action="store_true", help="a line for every example; every failure"
    )
    group.add_argument(
        "--diff",
        choices=DIFFS,
        default="unified",
        help="how failures show what differs: by lines (unified), by words, or not at all: both "
        "texts (default: unified)",
    )
    group.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colours: auto is for terminals, unless NO_COLOR is in the environment",
    )
    group.add_argument(
        "--no-cluster",
        action="store_true",
        help="show every failure, also those with the cause of another one",
    )
    group.add_argument(
        "--json",
        metavar="FILE",
        help="write all results to FILE; -: to the standard output, and the text to the standard "
        "error. Its schema is th_shell/docs/reporting/results.schema.json",
    )
    group.add_argument(
        "--html", metavar="FILE", help="write a report to FILE with the pages beside the results"
    )
    group.add_argument(
        "--github", action="store_true", help="annotate the lines of failures in a GitHub workflow"
    )
    group.add_argument(
        "--coverage",
        action="store_true",
        help="say which operations of torch, and which anchors of the pages, have no checked "
        "example",
    )
    group.add_argument(
        "--coverage-names",
        type=_names,
        metavar="FILE",
        help="--coverage of the names in FILE, one in each line, instead of those of torch",
    )


def report_options(options: argparse.Namespace) -> ReportOptions:
    """What the options say."""
    descriptor = ReportOptions(json=options.json).descriptor
    view = View(
        verbose=options.verbose,
        diff=options.diff,
        clustered=not (options.no_cluster or options.verbose),
        style=style_for(options.color, descriptor),
    )
    return ReportOptions(
        view=view,
        json=options.json,
        html=options.html,
        github=options.github,
        coverage=options.coverage or options.coverage_names is not None,
        names=options.coverage_names,
    )


def _names(name: str) -> Sequence[str]:
    from th_shell.docs.reporting.coverage import read_api

    try:
        return read_api(Path(name))
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{name} cannot be read: {error.strerror}") from None
