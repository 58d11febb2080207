"""Ready sets of templates, under the names people know them by."""

from __future__ import annotations

import re
from collections.abc import Collection

from sidelight.core.checks import arguments_checked, shown
from sidelight.features.words.templates import Templates, parse_templates

FLAGS = ("capitalized", "capitals", "mixed", "initial", "digit", "number", "hyphen", "punctuation")
GROUPS = ("word", "folded", "neighbours", "affixes", "shapes", "cases", "flags", "columns")


@arguments_checked
def standard(
    columns: int = 1, *, without: Collection[str] = (), min_count: int = 1, hash_bits: int | None = None
) -> Templates:
    """The default features of words; docs/features.md shows the worth of each group.

    - word: as written
    - folded: in lower case, with every digit replaced by 0
    - neighbours: the two words beside it, folded
    - affixes: folded prefixes and suffixes of 1 to 4 characters
    - shapes: of the word and of these two
    - cases: the classes of the word and of each of the two, in pairs
    - flags: capitals, digits, hyphens, punctuation
    - columns: of every further column (parts of speech, say) the three nearest values, alone and in pairs

    And a constant, and the transitions. `columns` is how many columns tokens have; groups in `without` are left out.

    >>> len(standard().templates), len(standard(columns=2).templates)
    (26, 31)
    """
    if columns < 1:
        raise ValueError(f"columns is {columns}; give 1 or more")
    unknown = [group for group in without if group not in GROUPS]
    if isinstance(without, str) or unknown:
        raise ValueError(f"without is {shown(without)}; give some of {', '.join(GROUPS)}")
    groups: dict[str, list[str]] = {
        "word": ["U01:%x[0,0]"],
        "folded": ["U02[0]:%folded[0,0]"],
        "neighbours": [f"U02[{o}]:%folded[{o},0]" for o in (-1, 1)],
        "affixes": [f"U03:{kind}=%folded{kind}{n}[0,0]" for kind in ("prefix", "suffix") for n in range(1, 5)],
        "shapes": [f"U04[{o}]:shape=%shape[{o},0]" for o in (-1, 0, 1)],
        "cases": [f"U05[{o}]:cases=%case[{o},0]|%case[{o + 1},0]" for o in (-1, 0)],
        "flags": [f"U06:{flag}=%{flag}[0,0]" for flag in FLAGS],
        "columns": [
            line
            for c in range(1, columns)
            for line in (
                *(f"U07[{o}]:column{c}=%x[{o},{c}]" for o in (-1, 0, 1)),
                *(f"U08[{o}]:columns{c}=%x[{o},{c}]|%x[{o + 1},{c}]" for o in (-1, 0)),
            )
        ],
    }
    lines = [line for group, members in groups.items() if group not in without for line in members]
    return parse_templates("\n".join(["U00:bias", *lines, "B"]), min_count=min_count, hash_bits=hash_bits)


@arguments_checked
def words(before: int = 0, *, min_count: int = 1, hash_bits: int | None = None) -> Templates:
    """The current word, as many `before` it, and the transitions; before=1 is thesis Table 6.1 without spelling.

    >>> len(words(before=1).templates)
    3
    """
    lines = [f"U{1 + back:02}:%x[{-back},0]" for back in range(before + 1)]
    return parse_templates("\n".join(["U00:bias", *lines, "B"]), min_count=min_count, hash_bits=hash_bits)


@arguments_checked
def emissions(
    lower: bool = False, *, classes: str | None = None, min_count: int = 1, hash_bits: int | None = None
) -> Templates:
    """The emissions of an HMM: a constant, optionally a class of the word, and the word itself, in lower case if
    `lower`.

    `classes` are the classes of unknown words: "shape", "signature", or "ending1" to "ending9" (the last letters). Of a
    lower-cased word only the ending is known. See `generative.emissions`, and `rare` of `recipes.hmm`.

    >>> [template.text for template in emissions(True, classes="ending2").templates]
    ['U00:bias', 'U01:class={}', 'U02:{}']
    """
    if classes is not None and not re.fullmatch("shape|signature|ending[1-9]", classes):
        raise ValueError(f"classes is {shown(classes)}; give 'shape', 'signature', or an ending such as 'ending2'")
    if classes is not None and lower and not classes.startswith("ending"):
        raise ValueError(f"lower-cased words have no {classes}; give an ending such as 'ending2'")
    if classes is not None and min_count > 1:
        raise ValueError("min_count would leave classes out; use rare of the learner instead")
    word = "%lower[0,0]" if lower else "%x[0,0]"
    lines = ["U00:bias", *([] if classes is None else [f"U01:class=%{classes}[0,0]"]), f"U02:{word}", "B"]
    return parse_templates("\n".join(lines), min_count=min_count, hash_bits=hash_bits)


@arguments_checked
def window(size: int = 2, *, min_count: int = 1, hash_bits: int | None = None) -> Templates:
    """The words at most `size` tokens away, the two bigrams with the current word, and the transitions.

    >>> len(window(1).templates)
    6
    """
    lines = ["U00:bias"]
    lines += [f"U01[{offset}]:%x[{offset},0]" for offset in range(-size, size + 1)]
    if size >= 1:
        lines += ["U02:%x[-1,0]|%x[0,0]", "U03:%x[0,0]|%x[1,0]"]
    return parse_templates("\n".join([*lines, "B"]), min_count=min_count, hash_bits=hash_bits)


@arguments_checked
def spelling(*, min_count: int = 1, hash_bits: int | None = None) -> Templates:
    """The set of thesis Table 6.1: bias, word, previous word, prefixes and suffixes up to 3, capital, hyphen, digit.

    >>> spelling().templates[1].text
    'U01:{}'
    """
    lines = ["U00:bias", "U01:%x[0,0]", "U02:%x[-1,0]"]
    lines += [f"U1{n}:%suffix{n}[0,0]" for n in (1, 2, 3)]
    lines += [f"U2{n}:%prefix{n}[0,0]" for n in (1, 2, 3)]
    lines += ["U30:%capitalized[0,0]", "U31:%hyphen[0,0]", "U32:%digit[0,0]", "B"]
    return parse_templates("\n".join(lines), min_count=min_count, hash_bits=hash_bits)


@arguments_checked
def chunking(*, min_count: int = 1, hash_bits: int | None = None) -> Templates:
    """The set of CRFsuite's chunking tutorial over columns word and part of speech.

    Words up to two away, word bigrams, tags up to two away, tag bigrams and trigrams; nothing is seen beyond the
    ends. The tutorial's marks for the two ends are the chain's own start and end weights here.
    """
    lines = [f"U0{i}:w[{o}]=%x[{o},0]" for i, o in enumerate(range(-2, 3))]
    lines += ["U05:w[-1]|w[0]=%x[-1,0]|%x[0,0]", "U06:w[0]|w[1]=%x[0,0]|%x[1,0]"]
    lines += [f"U1{i}:pos[{o}]=%x[{o},1]" for i, o in enumerate(range(-2, 3))]
    lines += [f"U2{i}:pos[{o}]|pos[{o + 1}]=%x[{o},1]|%x[{o + 1},1]" for i, o in enumerate(range(-2, 2))]
    lines += [
        f"U3{i}:pos[{o}]|pos[{o + 1}]|pos[{o + 2}]=%x[{o},1]|%x[{o + 1},1]|%x[{o + 2},1]"
        for i, o in enumerate(range(-2, 1))
    ]
    return parse_templates("\n".join([*lines, "B"]), boundary="skip", min_count=min_count, hash_bits=hash_bits)
