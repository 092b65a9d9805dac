"""Where the time of a push goes, as a table and as a picture."""

from __future__ import annotations

from html import escape

# The states of the machine `push`, and the parts before and after them.
PARTS = {
    "starting": ("start and answer", "#9aa5b1"),
    "answering": ("start and answer", "#9aa5b1"),
    "received": ("read the payload", "#c9b458"),
    "deciding": ("look for the app", "#7fb069"),
    "openingStore": ("open the store", "#e07a5f"),
    "decoding": ("open the box", "#81b29a"),
    "claiming": ("claim", "#f2a65a"),
    "fetching": ("ask the relay", "#5b8def"),
    "committing": ("commit", "#b5485d"),
    "acknowledging": ("acknowledge", "#8e7cc3"),
    "presenting": ("compose and record", "#4f9d9d"),
    "sending": ("send the outbox", "#d9a5b3"),
    "releasing": ("close", "#6d6875"),
}

WIDTH, LEFT, BAR, GAP, TOP = 900, 190, 30, 22, 30


def phases_table(phases: dict[str, dict[str, float]]) -> str:
    lines = [("milliseconds in each state", *phases)]
    for part in PARTS:
        if any(part in found for found in phases.values()):
            lines.append((part, *(f"{found[part]:.2f}" if part in found else "" for found in phases.values())))
    lines.append(("together", *(f"{sum(found.values()):.2f}" for found in phases.values())))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def picture(phases: dict[str, dict[str, float]]) -> str:
    """One bar for each program, in parts."""
    longest = max(sum(found.values()) for found in phases.values())
    scale = (WIDTH - LEFT - 90) / longest
    rows = []
    for place, (name, found) in enumerate(phases.items()):
        y = TOP + place * (BAR + GAP)
        rows.append(f'<text x="{LEFT - 10}" y="{y + 20}" text-anchor="end">{escape(name)}</text>')
        x = float(LEFT)
        for part, (what, color) in PARTS.items():
            width = found.get(part, 0) * scale
            if width <= 0:
                continue
            rows.append(
                f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{color}">'
                f"<title>{escape(what)}: {found[part]:.2f} ms</title></rect>"
            )
            x += width
        rows.append(f'<text x="{x + 8:.1f}" y="{y + 20}">{sum(found.values()):.1f} ms</text>')
    y = TOP + len(phases) * (BAR + GAP) + 10
    legend = dict.fromkeys(PARTS.values())
    for place, (what, color) in enumerate(legend):
        (left, top) = (LEFT + place % 4 * 170, y + place // 4 * 24)
        rows.append(f'<rect x="{left}" y="{top}" width="14" height="14" fill="{color}"/>')
        rows.append(f'<text x="{left + 20}" y="{top + 12}">{escape(what)}</text>')
    height = y + (len(legend) + 3) // 4 * 24 + 10
    body = "\n  ".join(rows)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif"'
        ' font-size="13">\n'
        f'  <rect width="{WIDTH}" height="{height}" fill="white"/>\n'
        f"  <title>Where the time of a push goes</title>\n  {body}\n</svg>\n"
    )
