"""A table as LaTeX for the booktabs package. Any text is escaped so that it compiles with pdfLaTeX."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from strata.analysis.tables.model import Grid, Table

# Quotes are typeset by hand: a straight one has no glyph in every font encoding.
_COMMANDS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    '"': "''",
    "±": r"$\pm$",
    "−": r"$-$",
    "–": "--",
    "†": r"$^{\dagger}$",
    "‡": r"$^{\ddagger}$",
    "·": r"$\cdot$",
    "[": "{[}",
    "]": "{]}",
}
_LIGATURES = re.compile(r"-(?=-)|[`'](?=[`'])|([?!])(?=`)")


def render_latex(table: Table) -> str:
    r"""A `table` environment per grid, no wider than the line. Its first line names the packages that it needs."""
    parts = [r"% needs \usepackage{booktabs,graphicx}"]
    parts += [_environment(table, grid) for grid in table.grids]
    parts.append(_notes(table))
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Literal text. What pdfLaTeX has no glyph for is written as its code point; control characters become spaces."""
    return "".join(map(_escape_character, _LIGATURES.sub(lambda found: found.group() + "\0", text)))


def _escape_character(character: str) -> str:
    if character == "\0":
        return "{}"
    if character in _COMMANDS:
        return _COMMANDS[character]
    if " " <= character <= "~":
        return character
    if unicodedata.category(character).startswith(("C", "Z")):
        return " "
    base = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return base if base.isalnum() else f"{{[}}U+{ord(character):04X}{{]}}"


def _environment(table: Table, grid: Grid) -> str:
    banner = [rf"\textbf{{{escape(table.banner)}}}"] if table.banner else []
    caption = " ".join([*banner, f"{escape(table.title)}.", f"{escape(grid.caption)}."])
    rows = [" & ".join(map(_cell, row)) + r" \\ \addlinespace" for row in grid.rows]
    # Over both columns of a two-column page when it is wide.
    name = "table*" if len(grid.head) > 6 else "table"
    return "\n".join(
        [
            rf"\begin{{{name}}}",
            rf"\caption{{{caption}}}",
            r"\centering\scriptsize\setlength{\tabcolsep}{4pt}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{'l' * len(grid.head)}}}",
            r"\toprule",
            " & ".join(map(_cell, grid.head)) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}}",
            rf"\end{{{name}}}",
        ]
    )


def _cell(text: str) -> str:
    lines = [escape(line) for line in text.split("\n")]
    if len(lines) == 1:
        return lines[0]
    return r"\begin{tabular}[t]{@{}l@{}}" + r" \\ ".join(lines) + r"\end{tabular}"


def _notes(table: Table) -> str:
    def items(head: str, texts: Iterable[str]) -> list[str]:
        return [rf"\par\noindent\textbf{{{head}}} {escape(text)}" for text in texts]

    return "\n".join([r"{\scriptsize", *items("Warning.", table.warnings), *items("Note.", table.notes), r"\par}"])
