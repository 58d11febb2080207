"""`sidelight align`: trains, applies and evaluates word alignment of parallel text."""

from __future__ import annotations

import json as json_text
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sidelight.commands.shared import options
from sidelight.commands.shared.loading import checked_kind
from sidelight.commands.shared.options import in_learning, in_output, in_reading, panel
from sidelight.commands.shared.outputs import check_writable, interruptible, keep, size_of, write, write_json
from sidelight.commands.shared.program import SETTINGS
from sidelight.commands.shared.progress_display import shown
from sidelight.commands.shared.train_options import Checkpoint
from sidelight.core.records import Round
from sidelight.data import write_text_atomically
from sidelight.data.links import Link, giza_entry, pharaoh_line, read_giza, read_gold, read_pharaoh
from sidelight.data.parallel import ParallelText, read_parallel
from sidelight.estimators.aligner import DECODERS, Aligner
from sidelight.evaluate.alignments import score_alignments
from sidelight.generative.word_alignment.alignment_decoding import RULES
from sidelight.models.alignment_model import KIND

app = typer.Typer(
    name="align",
    help="Align the words of sentences and their translations, without labelled alignments.",
    rich_markup_mode="rich",
    invoke_without_command=True,
    context_settings=SETTINGS,
)

USUAL: dict[str, Any] = {name: p.default for name, p in signature(Aligner.__init__).parameters.items()}
in_decoding = panel("Decoding")
Format = Literal["pharaoh", "giza"]

Source = Annotated[
    Path, in_reading("--source", metavar="FILE", help="A file with one tokenised sentence per line; may be .gz.")
]
Target = Annotated[Path, in_reading("--target", metavar="FILE", help="The translations, line by line.")]
SkipEmpty = Annotated[
    bool,
    in_reading(
        "--skip-empty",
        help="Skip pairs with an empty sentence instead of stopping; their output line is empty.",
    ),
]
LinkFormat = Annotated[
    Format, in_output("--format", help='pharaoh: a line "0-0 1-2" for each pair; giza: three lines (A3).')
]
_DECODE = "posterior: links by their probability; viterbi: best alignments; agreed: as posterior, directions tied."
_COMBINE = "How the two directions become one."


@app.callback()
def _options(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(epilog="Example: sidelight align train --source a.en --target a.fr --out en-fr.sidelight --links a.links")
def train(
    *,
    source: Source,
    target: Target,
    skip_empty: SkipEmpty = False,
    gamma: Annotated[float, in_learning(help="The weight of entropy: 1 is EM, 0 takes best alignments.")] = USUAL[
        "gamma"
    ],
    agreement: Annotated[
        bool,
        in_learning(
            "--agreement/--no-agreement",
            help="Constrain both directions to agree; training without it is three times faster.",
        ),
    ] = USUAL["agreement"],
    model1: Annotated[int, in_learning("--model1", help="Iterations of IBM model 1.")] = USUAL["model1_iterations"],
    hmm: Annotated[int, in_learning("--hmm", help="Iterations of the HMM after it.")] = USUAL["hmm_iterations"],
    null: Annotated[float, in_learning(help="Probability that a word has no counterpart.")] = USUAL["null"],
    smoothing: Annotated[float, in_learning(help="Dirichlet prior on translations; 0 is none.")] = USUAL["smoothing"],
    steps: Annotated[int, in_learning(help="The maximum number of agreement steps per pair and iteration.")] = USUAL[
        "steps"
    ],
    lowercase: Annotated[bool, in_learning("--lowercase/--keep-case", help="Ignore case.")] = USUAL["lowercase"],
    decode: Annotated[str, in_decoding(metavar="|".join(DECODERS), help=_DECODE)] = USUAL["decode"],
    combine: Annotated[str, in_decoding(metavar="|".join(RULES), help=_COMBINE)] = USUAL["combine"],
    threshold: Annotated[float, in_decoding(help="The minimum probability of a link.")] = USUAL["threshold"],
    out: Annotated[Path, in_output("--out", metavar="MODEL", help="The model file to write.")],
    links: Annotated[Path | None, in_output(metavar="FILE", help="Write the links of the training pairs here.")] = None,
    format: LinkFormat = "pharaoh",
    checkpoint: Checkpoint = None,
    history: Annotated[
        Path | None, in_output(metavar="FILE.jsonl", help="Write the records of all iterations here.")
    ] = None,
    jobs: options.Jobs = USUAL["n_jobs"],
    place: options.PlaceName = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Train a word aligner from a text and its translation; needs no alignments."""
    check_writable(out, links, checkpoint, history, reads=[source, target])
    rounds: list[Round] = []
    with shown(quiet=quiet, verbose=verbose) as progress:
        with interruptible(out, checkpoint):
            progress.say(f"reading {source} and {target}")
            text = read_parallel(source, target, skip_empty=skip_empty)
            aligner = Aligner(
                model1_iterations=model1,
                hmm_iterations=hmm,
                gamma=gamma,
                agreement=agreement,
                null=null,
                smoothing=smoothing,
                steps=steps,
                lowercase=lowercase,
                decode=decode,
                combine=combine,
                threshold=threshold,
                n_jobs=jobs,
                place=place,
                callbacks=[rounds.append],
                checkpoint=checkpoint,
            )
            aligner.fit(text.sources, text.targets)
            keep(aligner.save, out, checkpoint=checkpoint)
        if links is not None:
            progress.say("aligning the training pairs")
            write(_written(text, aligner.align(text.sources, text.targets), format), links)
    if history is not None:
        write_text_atomically(history, "".join(json_text.dumps(record.as_dict()) + "\n" for record in rounds))
    if not quiet:
        skipped = f", {len(text.skipped):,} skipped" if text.skipped else ""
        write(f"{len(text.lines):,} pairs{skipped}, {rounds[-1].seconds:.1f} s: {out}, {size_of(out)}\n", None)


@app.command(epilog="Example: sidelight align apply en-fr.sidelight --source new.en --target new.fr --out new.links")
def apply(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file written by sidelight align train.")],
    *,
    source: Source,
    target: Target,
    skip_empty: SkipEmpty = False,
    decode: Annotated[
        str | None, in_decoding(metavar="|".join(DECODERS), help=f"{_DECODE} As trained by default.")
    ] = None,
    combine: Annotated[
        str | None, in_decoding(metavar="|".join(RULES), help=f"{_COMBINE} As trained by default.")
    ] = None,
    threshold: Annotated[
        float | None, in_decoding(help="The minimum probability of a link; as trained by default.")
    ] = None,
    out: Annotated[Path | None, in_output("--out", metavar="FILE", help="The output file; stdout by default.")] = None,
    format: LinkFormat = "pharaoh",
    jobs: options.Jobs = USUAL["n_jobs"],
) -> None:
    """Align the words of new sentence pairs."""
    check_writable(out, reads=[model, source, target])
    checked_kind(model, KIND)
    aligner = Aligner.load(model)
    parameters = {"decode": decode, "combine": combine, "threshold": threshold}
    aligner.set_params(n_jobs=jobs, **{name: value for name, value in parameters.items() if value is not None})
    text = read_parallel(source, target, skip_empty=skip_empty)
    with shown():
        alignments = aligner.align(text.sources, text.targets)
    write(_written(text, alignments, format), out)


@app.command(epilog="Example: sidelight align evaluate new.links gold.wa")
def evaluate(
    links: Annotated[Path, typer.Argument(metavar="LINKS", help="Links written by sidelight align.")],
    gold: Annotated[
        Path,
        typer.Argument(
            metavar="GOLD", help="Gold links: sentence, source and target position (all from 1), and S or P."
        ),
    ],
    format: LinkFormat = "pharaoh",
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the scores to this file.")
    ] = None,
) -> None:
    """Compare links with the right ones: alignment error rate, precision and recall."""
    check_writable(json, reads=[links, gold])
    alignments = read_giza(links) if format == "giza" else read_pharaoh(links)
    scores = score_alignments(read_gold(gold, count=len(alignments)), alignments)
    write_json(scores.as_dict(), json)
    write(f"{scores}\n", None)


def _written(text: ParallelText, links: Sequence[Sequence[Link]], format: Format) -> str:
    if format == "pharaoh":
        entries = text.on_all_lines([pharaoh_line(one) for one in links])
    else:
        pairs = zip(text.lines, text.sources, text.targets, links)
        lines = text.on_all_lines([giza_entry(number, x, y, one) for number, x, y, one in pairs])
        entries = [line or giza_entry(number, [], [], []) for number, line in enumerate(lines, 1)]
    return "".join(f"{entry}\n" for entry in entries)
