"""HMMs and EM from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sidelight.commands.shared.settings import choose_learner
from sidelight.models.model_file import load_model

GOLD = "The\tD\ndog\tN\nruns\tV\n\nthe\tD\ncat\tN\n\ndog\tN\nruns\tV\n\n"
RAW = "the\nzebra\nruns\n\nthe\ndog\n\n"
CANDIDATES = "the\tD\nzebra\tN|V\nruns\tV\n\n"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    out = {}
    for name, text in (("gold", GOLD), ("raw", RAW), ("candidates", CANDIDATES)):
        out[name] = tmp_path / f"{name}.txt"
        out[name].write_text(text)
    return out


def test_an_hmm_has_its_own_features(run, files):
    run("train", "--gold", files["gold"], "--learner", "hmm", "--out", "m.sidelight", "--quiet")
    model = load_model(Path("m.sidelight"))
    names = {model.extractor.name(number) for number in range(model.layout.n_attributes)}
    assert names == {"U00:bias", "U02:The", "U02:the", "U02:dog", "U02:cat", "U02:runs"}
    run("train", "--gold", files["gold"], "--learner", "hmm", "--features", "emissions_lower", "--out", "m", "--quiet")
    assert load_model(Path("m")).layout.n_attributes == 5
    assert "100.0" in run("evaluate", "m.sidelight", files["gold"]).out


@pytest.mark.parametrize("name", ["em", "hard_em", "unified_em"])
def test_em_takes_files_of_every_kind(run, files, name):
    given = ("--gold", files["gold"], "--candidates", files["candidates"], "--unlabeled", files["raw"])
    typed = ("--learner", name, "--set", "iterations=3", "--set", "beta=0.9", "--set", "ends=true")
    run("train", *given, *typed, "--history", "h.jsonl", "--out", "m.sidelight", "--quiet")
    rounds = [json.loads(line) for line in Path("h.jsonl").read_text().splitlines()]
    assert 1 <= len(rounds) <= 3 and all(one["learner"] == name and one["objective"] > 0 for one in rounds)
    assert load_model(Path("m.sidelight")).about["learner"] == name


def test_temperatures_are_typed_as_numbers():
    assert choose_learner("unified_em", ["gamma=-inf"]).gamma == float("-inf")
    recipe = choose_learner("unified_em", ["gamma=0.5", "anneal_from=2", "schedule=geometric", "start=min_greedy"])
    assert recipe.em().options.annealing == (2.0, 10, "geometric") and recipe.start == "min_greedy"


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (("--learner", "em", "--set", "start=there"), "start is 'there'; give 'gold', 'uniform'"),
        (("--learner", "hmm", "--set", "emission=soft"), "emission is 'soft'; give 'none', 'additive'"),
        (("--learner", "hmm", "--features", "window"), "these features are others; use features.emissions()"),
        (("--learner", "hmm", "--set", "gamma=1"), "hmm has no option 'gamma'"),
    ],
)
def test_bad_options_are_one_line(run, files, typed, message):
    found = run("train", "--gold", files["gold"], *typed, "--out", "m.sidelight", code=2)
    assert message in found.err and not Path("m.sidelight").exists()
