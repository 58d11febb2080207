"""The page of a server: a text box, coloured labels, and explanations. Everything is escaped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sidelight.commands.serving.answers import ServedModel
from sidelight.commands.serving.limits import Limits, RequestError
from sidelight.commands.serving.questions import ServedInputs, Wishes, question_of, question_of_text, within
from sidelight.core.html import Html, escape
from sidelight.core.progress import in_words
from sidelight.report.page import COLOURS, Page, table

EXPLAINED = 20  # number of inputs that are explained
DECIDING = 12  # weights of each
UNSURE = 0.95  # tokens with a lower probability are listed
LEAST_SURE = 8  # maximum number of listed tokens
STYLE = """
form { margin: 1rem 0 0; }
textarea { width: 100%; box-sizing: border-box; min-height: 7.5rem; padding: .7rem .8rem; font: inherit;
  resize: vertical; color: inherit; background: var(--soft); border: 1px solid var(--line); border-radius: 8px; }
textarea:focus { outline: 2px solid #2f6fb2; outline-offset: 1px; }
button { margin-top: .6rem; padding: .45rem 1.3rem; font: inherit; font-weight: 600; color: #fff; background: #2f6fb2;
  border: 0; border-radius: 8px; cursor: pointer; }
button:hover { background: #255a92; }
.error { padding: .6rem .9rem; border-left: 4px solid #c4572b; background: var(--soft); border-radius: 4px; }
.answer { padding: .9rem 1rem .5rem; margin: .8rem 0; border: 1px solid var(--line); border-radius: 10px; }
.text { font-size: 17px; line-height: 2.5; margin: 0 0 .3rem; overflow-wrap: anywhere; }
mark { color: inherit; padding: .2rem .1rem .2rem .4rem; border-radius: 6px; white-space: normal;
  background: color-mix(in srgb, var(--c) 20%, transparent);
  border: 1px solid color-mix(in srgb, var(--c) 55%, transparent);
  box-decoration-break: clone; -webkit-box-decoration-break: clone; }
mark b { font-size: 11px; letter-spacing: .02em; color: #fff; background: var(--c); border-radius: 4px;
  padding: .1rem .4rem; margin: 0 .2rem 0 .35rem; vertical-align: .1em; }
.legend span { display: inline-block; margin: 0 1rem .3rem 0; font-size: 13px; }
.legend i { display: inline-block; width: .8rem; height: .8rem; border-radius: 3px; margin-right: .35rem;
  vertical-align: -.1rem; background: var(--c); }
details { margin: .3rem 0 .5rem; } summary { cursor: pointer; color: var(--faint); font-size: 14px; }
h3 { font-size: 14px; margin: .8rem 0 .2rem; }
.bar { display: inline-block; height: .6rem; border-radius: 3px; background: var(--c); vertical-align: middle; }
.track { display: inline-block; width: 8rem; margin-right: .5rem; border-radius: 3px; background: var(--line);
  line-height: 1; }
.for { color: #3a8f5c; } .against { color: #c4572b; }
pre { overflow-x: auto; padding: .8rem; background: var(--soft); border-radius: 8px; }
"""


def demo_page(served: ServedModel, limits: Limits, text: str = "") -> tuple[int, str]:
    """The page with the predictions for a text, if any, and the HTTP status."""
    page = Page(served.name, _lead(served), style=STYLE)
    status, parts = 200, list[Html | str]()
    if text:
        try:
            parts = _structures(served, limits, text) if served.entry else _labels(served, limits, text)
        except RequestError as error:
            status, parts = error.status, [Html(f'<p class="error">{escape(error)}</p>')]
    page.add("Text", _form(served, text))
    if parts:
        page.add("Answer", *parts)
    page.add("Model", _about(served, limits))
    return status, page.html()


def failed_page(served: ServedModel, limits: Limits, text: str, error: RequestError) -> str:
    """The page with an error instead of an answer."""
    page = Page(served.name, _lead(served), style=STYLE)
    page.add("Text", _form(served, text))
    page.add("Answer", Html(f'<p class="error">{escape(error)}</p>'))
    page.add("Model", _about(served, limits))
    return page.html()


def _lead(served: ServedModel) -> str:
    if served.entry is not None:
        return served.entry.line
    what = {"chain": "Labels every token.", "segments": "Finds labelled segments.", "classes": "Finds a class."}
    return what[served.kind]


def _form(served: ServedModel, text: str) -> Html:
    unit = "document" if served.kind == "classes" else "sentence"
    hint = f"Paste text here, a {unit} a line" if served.entry is None else f"As in a file: {served.entry.example}"
    return Html(
        f'<form method="post" action="/"><textarea name="text" aria-label="Text" placeholder="{escape(hint)}" '
        f'autofocus spellcheck="false">\n{escape(text)}</textarea>'
        f"<button>{'Label it' if served.entry is None else 'Find it'}</button></form>"
    )


def _structures(served: ServedModel, limits: Limits, text: str) -> list[Html | str]:
    question = question_of(json.dumps({"text": text}).encode(), served.model, served.entry, limits)
    response = served.answer(question)
    scores = ", ".join(f"{one['score']:.3f}" for one in response["predictions"])
    return [*response["notes"], Html(f"<pre>{escape(response['text'])}</pre>"), f"Scores: {scores}"]


def _labels(served: ServedModel, limits: Limits, text: str) -> list[Html | str]:
    lines = [line for line in text.splitlines() if line.strip()]
    question = within(question_of_text(text, served.model, Wishes()), limits)
    first = ServedInputs(question.xs[:EXPLAINED], Wishes(probabilities=True, margins=True, explain=True))
    answers = [served.answer(first)]
    if len(question.xs) > EXPLAINED:
        answers.append(served.answer(ServedInputs(question.xs[EXPLAINED:], Wishes())))
    predictions = [one for answer in answers for one in answer["predictions"]]
    notes = dict.fromkeys(note for answer in answers for note in answer["notes"])
    colours = _colours(served)
    parts: list[Html | str] = [*notes, _legend(served, predictions, colours)]
    for one, line in zip(predictions, lines):
        shown = _sentence(one, colours) if served.model.sequences else _document(one, line, colours)
        why = _why(served, one, colours) if "score" in one else ""
        parts.append(Html(f'<div class="answer">{shown}{why}</div>'))
    if len(predictions) > EXPLAINED:
        parts.append(f"The first {EXPLAINED} are explained.")
    return parts


def _colours(served: ServedModel) -> dict[str, str]:
    """A colour for every type of span, or for every class; "outside" has none."""
    classes = [str(label) for label in served.model.labels.classes]
    if served.model.sequences and served.description(Limits())["scheme"] is not None:
        classes = list(dict.fromkeys(label[2:] or "chunk" for label in classes if label != "O"))
    named = [label for label in classes if label != "O"]
    more = [f"hsl({137.5 * k % 360:.0f} 45% 42%)" for k in range(len(named) - len(COLOURS))]
    return dict(zip(named, [*COLOURS, *more]))


def _legend(served: ServedModel, outputs: Sequence[Mapping[str, Any]], colours: Mapping[str, str]) -> Html:
    there = {span["label"] for one in outputs for span in one.get("spans", ())} | {
        str(one.get("label")) for one in outputs
    }
    shown = (
        f'<span><i style="--c:{colour}"></i>{escape(label)}</span>'
        for label, colour in colours.items()
        if label in there
    )
    return Html(f'<p class="legend">{"".join(shown)}</p>')


def _sentence(one: Mapping[str, Any], colours: Mapping[str, str]) -> str:
    """Tokens, with spans marked in the colours of their labels."""
    parts, at = list[str](), 0
    for span in one["spans"]:
        parts += [escape(token) for token in one["tokens"][at : span["first"]]]
        at = span["last"] + 1
        inside = escape(" ".join(one["tokens"][span["first"] : at]))
        colour = colours.get(span["label"], COLOURS[-1])
        parts.append(f'<mark style="--c:{colour}">{inside}<b>{escape(span["label"] or "chunk")}</b></mark>')
    parts += [escape(token) for token in one["tokens"][at:]]
    return f'<p class="text">{" ".join(parts)}</p>'


def _document(one: Mapping[str, Any], line: str, colours: Mapping[str, str]) -> str:
    colour = colours.get(str(one["label"]), COLOURS[-1])
    mark = f'<mark style="--c:{colour}"><b style="margin-left:0">{escape(one["label"])}</b></mark>'
    return f'<p class="text">{mark} {escape(line)}</p>'


def _why(served: ServedModel, one: Mapping[str, Any], colours: Mapping[str, str]) -> str:
    """The confidence of the model, the runner-up, the decisive weights, and the effects of rules."""
    if one["score"] is None:
        return '<p class="faint">There is no other output to compare with.</p>'
    own = one.get("without_rules", one["labels"] if served.model.sequences else one["label"])
    tokens = one.get("tokens", ["input"])
    ours, theirs = (own, one["runner_up"]) if served.model.sequences else ([own], [one["runner_up"]])
    differ = [
        f"<b>{escape(token)}</b> {escape(b)} instead of {escape(a)}"
        for token, a, b in zip(tokens, ours, theirs)
        if a != b
    ]
    alone = " without rules" if "without_rules" in one else ""
    body = f"<h3>Runner-up{alone}</h3><p>{'; '.join(differ) or 'the same labels with other segment boundaries'}</p>"
    body += _sureness(one, tokens, colours, served)
    rows = [
        Html(
            f"<tr><td class='number {'for' if item['amount'] > 0 else 'against'}'>{item['amount']:+.3f}</td>"
            f"<td>{escape(item['part'])}{_at(item, tokens)}</td><td>{escape(item['name'])}</td>"
            f"<td>{escape(item['predicted'])}</td><td>{escape(item['runner_up'])}</td></tr>"
        ).text
        for item in one["explanation"][:DECIDING]
    ]
    heads = "".join(f"<th>{head}</th>" for head in ("weight", "of", "feature", "for", "against"))
    body += (
        f"<h3>Weights that decide</h3><div class='wide'><table><tr>{heads}</tr>{''.join(rows)}</table></div>"
        if rows
        else ""
    )
    body += _what_rules_did(one.get("rules", ()), tokens)
    heading = f"Why? Margin {one['margin']:.3f} over the runner-up{alone}"
    changed = any(rule["changes"] for rule in one.get("rules", ()))
    return f"<details{' open' if changed else ''}><summary>{heading}</summary>{body}</details>"


def _what_rules_did(rules: Sequence[Mapping[str, Any]], tokens: Sequence[str]) -> str:
    """The rules that are broken by some output, and the number of other rules."""
    if not rules:
        return ""
    active = [rule for rule in rules if rule["broken_without_rules"] or rule["broken"] or rule["changes"]]
    lines = [
        (
            rule["name"],
            "hard" if rule["penalty"] is None else f"{rule['penalty']:.2f}",
            rule["broken_without_rules"],
            rule["broken"],
            ", ".join(f"{tokens[c['token']]}: {c['from']} → {c['to']}" for c in rule["changes"]) or "nothing",
        )
        for rule in active
    ]
    heads = ["rule", "cost of a violation", "broken without rules", "broken with rules", "changes"]
    others = len(rules) - len(active)
    which = "all rules" if not active else f"{others:,} other rule{'s' * (others != 1)}"
    obeyed = f"<p>Even without rules, the labels obey {which}.</p>" if others else ""
    return f"<h3>Rules</h3>{table(heads, lines).text if active else ''}{obeyed}"


def _at(item: Mapping[str, Any], tokens: Sequence[str]) -> str:
    return "" if item["token"] < 0 or len(tokens) < 2 else f" at <b>{escape(tokens[item['token']])}</b>"


def _sureness(one: Mapping[str, Any], tokens: Sequence[str], colours: Mapping[str, str], served: ServedModel) -> str:
    """Labels with low probability, with the second best label."""
    shares = one["probabilities"] if served.model.sequences else [one["probabilities"]]
    labels = one["labels"] if served.model.sequences else [one["label"]]
    rows = []
    sureness = [each.get(str(label), 0.0) for label, each in zip(labels, shares)]
    doubtful = sorted((sure, t) for t, sure in enumerate(sureness) if sure < UNSURE or not served.model.sequences)
    for t in sorted(t for _, t in doubtful[:LEAST_SURE]):
        token, label, each, sure = tokens[t], labels[t], shares[t], sureness[t]
        others = sorted(((share, name) for name, share in each.items() if name != str(label)), reverse=True)
        other = f"{escape(others[0][1])} {100 * others[0][0]:.1f} %" if others else ""
        colour = colours.get(str(label), colours.get(str(label)[2:], COLOURS[-1]))
        bar = f'<span class="track"><span class="bar" style="--c:{colour};width:{100 * sure:.0f}%"></span></span>'
        first = f"<td>{escape(token)}</td>" if served.model.sequences else ""
        rows.append(f"<tr>{first}<td>{escape(label)}</td><td>{bar}{100 * sure:.1f} %</td><td>{other}</td></tr>")
    if not rows:
        return f"<h3>Confidence</h3><p>Every label has a probability of at least {100 * UNSURE:.0f} %.</p>"
    heads = (["token"] if served.model.sequences else []) + ["label", "probability", "next"]
    top = "".join(f"<th>{head}</th>" for head in heads)
    least = f": the {LEAST_SURE} least certain tokens" if len(doubtful) > LEAST_SURE else ""
    return f"<h3>Confidence{least}</h3><div class='wide'><table><tr>{top}</tr>{''.join(rows)}</table></div>"


def _about(served: ServedModel, limits: Limits) -> Html:
    about = served.description(limits)
    rows = [("kind", about["kind"]), ("learner", about["learner"] or "")]
    rows += [("learned from", in_words(about["evidence"]))] if about["evidence"] else []
    labels = [str(one) for one in about.get("labels", ())]
    rows += [("labels", f"{len(labels):,}: {', '.join(labels[:40])}")] if labels else []
    rows += [("rules", ", ".join(about["rules"]))] if about["rules"] else []
    rows += [("nonzero weights", f"{about['nonzero_weights']:,} of {about['weights']:,}")]
    rows += [("limits", f"{limits.max_tokens:,} tokens, {limits.max_bytes:,} bytes, {limits.max_seconds:g} seconds")]
    rows += [("API", 'POST /predict {"text": "…", "probabilities": true}; GET /model, /health')]
    return table(["", ""], rows)
