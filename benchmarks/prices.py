"""Which price a CRF should have on CoNLL-2000: chunk F1 on the last fifth of the training part, learned from the rest.

`python -m benchmarks.crf_prices` prints a table; its best prices are the `PRICES` of `crf.py`.
"""

from __future__ import annotations

from benchmarks.crf import ROUNDS, train

GRID = (0.25, 0.5, 1.0, 2.0)


def main() -> None:
    print("| support | iterations | " + " | ".join(f"C = {price:g}" for price in GRID) + " |")
    print("|---" * (2 + len(GRID)) + "|")
    for support in ("seen", "all"):
        for rounds in (ROUNDS, None):
            found = [train(support=support, price=price, rounds=rounds, held_out=True) for price in GRID]
            cells = " | ".join(f"{one['f1']:.2f} ({one['rounds']})" for one in found)
            print(f"| {support} | {rounds or 'to convergence'} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
