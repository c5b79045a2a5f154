"""Putting the page together.

Nothing that comes from a run is trusted: Jinja escapes it in the page, the embedded data is JSON whose `<` cannot end
its element, the script writes it as text only, and a content security policy allows no other script, style or request.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from strata.analysis.checks import banner, require_complete
from strata.analysis.figures.radar import save_radar, styles_of
from strata.analysis.figures.radar_data import Panel, radar_of
from strata.analysis.figures.style import DARK, LIGHT
from strata.analysis.records import Run
from strata.analysis.report.content import ALL_TEXTS, data_of, ordered, summary_of
from strata.analysis.select import arrange, cells_of
from strata.analysis.tables.model import Request
from strata.analysis.tables.numbers import NO_SCORE, percent
from strata.analysis.tables.table1 import build_table1
from strata.errors import DataError
from strata.types import Json


@dataclass(frozen=True, slots=True)
class Picture:
    """One figure as data URLs, for a light and a dark page."""

    title: str
    description: str
    light: str
    dark: str


def build_report(request: Request, *, samples: int) -> str:
    """The whole page. With too many tasks without a score, tables and figures are replaced by what is missing."""
    runs = ordered(request.runs)
    refusal = "" if request.allow_partial else _refusal(runs)
    style, script = _asset("report.css"), _asset("report.js")
    data = [data_of(run, samples=samples, characters=ALL_TEXTS // len(runs)) for run in runs]
    return (
        _environment()
        .get_template("report.html")
        .render(
            banner=banner(runs),
            refusal=refusal,
            tables=[] if refusal else [build_table1(request)],
            pictures=[] if refusal else _pictures(runs),
            runs=[summary_of(run) for run in runs],
            episodes=sum(len(run.episodes) for run in runs),
            samples=samples,
            style=Markup(style),
            script=Markup(script),
            policy=_policy(style, script),
            data=embed(data),
        )
    )


def embed(value: Json) -> Markup:
    """JSON that is safe inside a script element: it holds no `<`, `>`, `&` or line separator of JavaScript."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _refusal(runs: Sequence[Run]) -> str:
    try:
        require_complete("Tables and figures", cells_of(arrange(runs)))
    except DataError as error:
        return str(error)
    return ""


def _pictures(runs: Sequence[Run]) -> list[Picture]:
    """One picture per backbone and environment, so that they fit a narrow page too."""
    pictures = []
    for block in arrange(runs):
        whole = radar_of(block)
        styles = styles_of(whole)
        for panel in whole.panels:
            part = replace(whole, panels=(panel,))
            what = f"{panel.column.label} by category, {block.backbone}"
            pictures.append(
                Picture(
                    title=what,
                    description=f"Radar chart: {panel.column.metric} on {what}. {_words(panel)}",
                    light=_data_url(save_radar(part, "svg", theme=LIGHT, styles=styles)),
                    dark=_data_url(save_radar(part, "svg", theme=DARK, styles=styles)),
                )
            )
    return pictures


def _words(panel: Panel) -> str:
    """The numbers of a panel, for those who cannot see it."""
    series = []
    for one in panel.series:
        values = [NO_SCORE if point.value is None else percent(point.value) for point in one.points]
        named = zip(panel.categories, values, strict=True)
        series.append(f"{one.name}: {', '.join(f'{category.name} {value}' for category, value in named)}.")
    return " ".join(series)


def _data_url(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


def _asset(name: str) -> str:
    return files("strata.analysis.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Only this very style and script, and pictures embedded in the page; no request to anywhere."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("strata.analysis.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
