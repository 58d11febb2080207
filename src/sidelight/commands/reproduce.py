"""`sidelight reproduce`: reruns the experiments of the papers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sidelight.commands.shared import options
from sidelight.commands.shared.outputs import check_writable
from sidelight.core.progress import FITS, Progress
from sidelight.errors import DataError

ALL, PAGE = "all", "report.html"
FAILED = 1  # the exit code if an experiment failed


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The experiment, or all; --list shows the names.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", envvar="SIDELIGHT_DATA", help="The folder of the corpora."),
    ] = None,
    json: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the results here.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help=f"The folder for results and the report, {PAGE}. Finished results in it are kept.",
        ),
    ] = None,
    page_only: Annotated[
        bool, typer.Option("--page-only", help="Run nothing; rebuild the report from the results in --out.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A smaller, faster run that shows the direction of differences.")
    ] = False,
    jobs: options.Jobs = options.DEFAULTS["n_jobs"],
    place: options.PlaceName = None,
    choose: Annotated[
        list[str] | None,
        typer.Option(
            "--choose", metavar="NAME=VALUE", help="Run part of an experiment, such as sizes='20;50'; repeatable."
        ),
    ] = None,
    list_names: Annotated[bool, typer.Option("--list", help="Show the experiments and exit.")] = False,
) -> None:
    """Rerun published experiments, and show the results beside the published ones."""
    from sidelight.experiments import NAMES, reproduce

    if list_names:
        width = max(map(len, NAMES))
        for known, line in NAMES.items():
            typer.echo(f"{known:<{width}}  {line}")
        return
    if page_only:
        _write_page(_folder(out, data))
        return
    if name is None or name not in (*NAMES, ALL):
        problem = "no experiment was named" if name is None else f"no experiment is called {name!r}"
        raise ValueError(f"{problem}; choose one of {', '.join(NAMES)}, or {ALL}")
    if data is None:
        raise ValueError("no data folder; give --data DIR, or set SIDELIGHT_DATA")
    if not data.is_dir():
        raise DataError("there is no such folder", file=data, remedy="give --data DIR, or set SIDELIGHT_DATA")
    if name == ALL or out is not None:
        if json is not None or choose:
            raise ValueError("--json and --choose are for one experiment without --out; leave them out")
        how: dict[str, Any] = {"quick": quick, "n_jobs": jobs, "place": place}
        _into_folder(list(NAMES) if name == ALL else [name], data, _folder(out, data), **how)
        return
    among = json is not None and json.exists() and json.resolve().is_relative_to(data.resolve())
    check_writable(json, reads=[json] if among else [])
    choices = dict(_choice(text) for text in choose or [])
    reproduce(name, data=data, json_path=json, quick=quick, n_jobs=jobs, choose=choices, place=place, report=typer.echo)


def _into_folder(names: list[str], data: Path, out: Path, *, quick: bool, **how: Any) -> None:
    """Run unfinished experiments, make the page, and report failures."""
    from sidelight.experiments.run_all import jobs_of, run_all

    out.mkdir(parents=True, exist_ok=True)
    check_writable(out / PAGE)
    with Progress(lines=FITS) as progress:
        failures = run_all(jobs_of(names, quick=quick), data=data, out=out, quick=quick, progress=progress, **how)
    _write_page(out)
    for name, problem in failures.items():
        typer.echo(f"{name} failed: {problem}", err=True)
    if failures:
        typer.echo(f"{len(failures)} of {len(names)} experiments failed; run the command again to continue", err=True)
        raise typer.Exit(FAILED)


def _folder(out: Path | None, data: Path | None) -> Path:
    """The folder for results, which must not be the folder of corpora."""
    if out is None:
        raise ValueError("no folder for the results; give --out DIR")
    if out.exists() and not out.is_dir():
        raise DataError("this is not a folder", file=out, remedy="name an existing folder, or a new one")
    if data is not None and out.resolve().is_relative_to(data.resolve()):
        raise DataError("results would be among the corpora", file=out, remedy="name a folder outside of --data")
    return out


def _write_page(out: Path) -> None:
    from sidelight.commands.shared.outputs import write
    from sidelight.report.reproduction import reproduction_page

    out.mkdir(parents=True, exist_ok=True)
    write(reproduction_page(out), out / PAGE)


def _choice(text: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not mark:
        raise ValueError(f"--choose {text} has no =; write it as NAME=VALUE")
    return name, value
