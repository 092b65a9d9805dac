"""Samples, their summary, and the table."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


def percentile(samples: list[float], share: float) -> float:
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def summary(samples: list[float]) -> dict[str, float]:
    return {"median": percentile(samples, 0.5), "p90": percentile(samples, 0.9), "min": min(samples), "n": len(samples)}


@dataclass
class Row:
    """One figure and its reference, measured in turn: `ours[i]` right before or after `reference[i]`."""

    key: str
    what: str
    unit: str
    ours: list[float]
    reference: list[float] = field(default_factory=list)
    beside: str = ""
    # The budget is on the ratio, or, if `limit` is given, on the figure itself.
    budget: float | None = None
    limit: float | None = None

    def ratios(self) -> list[float]:
        return [ours / reference for ours, reference in zip(self.ours, self.reference, strict=True)]

    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"key": self.key, "what": self.what, "unit": self.unit, "ours": summary(self.ours)}
        if self.reference:
            found |= {"beside": self.beside, "reference": summary(self.reference), "ratio": summary(self.ratios())}
        measured, allowed = self.judged()
        if allowed is not None:
            found["budget"] = {"allowed": allowed, "measured": measured, "kept": measured <= allowed}
        return found

    def judged(self) -> tuple[float, float | None]:
        """The figure limited by the budget, and the budget. A ratio is judged by its median, a peak by its 90th percentile."""
        if self.limit is not None:
            return percentile(self.ours, 0.9), self.limit
        return (percentile(self.ratios(), 0.5) if self.reference else 0.0), self.budget

    def verdict(self) -> str:
        measured, allowed = self.judged()
        if allowed is None:
            return ""
        unit = f" {self.unit}" if self.limit is not None else " ×"
        if measured <= allowed:
            return f"within {allowed:g}{unit}"
        return f"OVER {allowed:g}{unit} by {(measured / allowed - 1) * 100:.0f} %"


HEADINGS = ("", "figure", "unit", "median", "p90", "reference", "p90", "ratio", "p90", "budget")


def table(rows: list[Row]) -> str:
    lines = [HEADINGS]
    for place, row in enumerate(rows, start=1):
        ours = summary(row.ours)
        cells = [str(place), row.what, row.unit, number(ours["median"]), number(ours["p90"])]
        if row.reference:
            reference, ratio = summary(row.reference), summary(row.ratios())
            cells += [
                number(reference["median"]),
                number(reference["p90"]),
                number(ratio["median"]),
                number(ratio["p90"]),
            ]
        else:
            cells += ["", "", "", ""]
        lines.append((*cells, row.verdict()))
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    text = [aligned(lines[0], widths), "  ".join("-" * width for width in widths)]
    text += [aligned(line, widths) for line in lines[1:]]
    notes = [f"{place:4}  {row.beside}" for place, row in enumerate(rows, start=1) if row.beside]
    return "\n".join([*text, "", "The references, each measured in turn with its figure:", *notes])


def aligned(cells: tuple[str, ...], widths: list[int]) -> str:
    left = {1, 2, len(HEADINGS) - 1}
    return "  ".join(
        cell.ljust(width) if column in left else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ).rstrip()


def number(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def report(rows: list[Row], extra: dict[str, Any]) -> str:
    return json.dumps({"rows": [row.json() for row in rows], **extra}, indent=2, ensure_ascii=False) + "\n"
