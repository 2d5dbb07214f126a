"""What a run says at its end: counts that tests record, and which tests were skipped.

`cargo xtask test` counts the lines that begin with `skipped: `.
"""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A line for each count, and one for each skipped test with its reason."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            terminalreporter.write_line(f"{report.nodeid}: {name}: {value}")
    for report in terminalreporter.getreports("skipped"):
        _path, _line, why = report.longrepr
        terminalreporter.write_line(f"skipped: {report.nodeid}: {why.removeprefix('Skipped: ')}")
