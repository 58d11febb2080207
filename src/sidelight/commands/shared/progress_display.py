"""Progress display of commands."""

from __future__ import annotations

from sidelight.core.progress import Progress


def shown(*, quiet: bool = False, verbose: int = 0) -> Progress:
    """A live line on a terminal, unless --quiet; with -v lines for begin and end of work, with -vv for every round."""
    if quiet and verbose:
        raise ValueError("--quiet and --verbose are both given; leave one of them out")
    return Progress(live=not quiet and verbose < 2, lines=min(verbose, 2))
