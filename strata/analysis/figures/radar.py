"""Drawing radar charts with matplotlib. Nothing drawn depends on the clock or the machine."""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

import matplotlib
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.projections.polar import PolarAxes

from strata.analysis.figures.radar_data import Category, Panel, Radar, Series
from strata.analysis.figures.style import LIGHT, Style, Theme, styles_for
from strata.analysis.tables.numbers import percent, seeds

PANEL_WIDTH, PANEL_HEIGHT = 5.0, 4.55
LINE_HEIGHT = 0.17
_SETTINGS: dict[Any, Any] = {
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "pdf.fonttype": 42,
    "svg.hashsalt": "strata",
    "svg.fonttype": "path",
}
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
}


Styles = Mapping[tuple[str, str], Style]
"""(memory, variant) -> its look."""


def save_radar(
    radar: Radar, kind: Literal["png", "pdf", "svg"], *, theme: Theme = LIGHT, styles: Styles | None = None
) -> bytes:
    """The figure as a file's content. Equal data gives equal bytes (with one version of matplotlib)."""
    with matplotlib.rc_context(_SETTINGS):
        out = io.BytesIO()
        figure = draw_radar(radar, theme, styles)
        figure.savefig(out, format=kind, dpi=200, facecolor=theme.ground, metadata=_METADATA[kind])
    return out.getvalue()


def styles_of(radar: Radar) -> Styles:
    """The look of each of the figure's series."""
    return styles_for((series.memory, series.variant) for panel in radar.panels for series in panel.series)


def draw_radar(radar: Radar, theme: Theme = LIGHT, styles: Styles | None = None) -> Figure:
    """All panels, two in a row, with a legend below and the banner, if any, on top.

    `styles` keeps the look of a figure that this one is a part of.
    """
    styles = styles_of(radar) if styles is None else styles
    across = min(2, len(radar.panels))
    down = math.ceil(len(radar.panels) / across)
    heading = textwrap.wrap(radar.banner, 56 * across) if radar.banner else []
    remarks = [_remarks(panel) for panel in radar.panels]
    beneath = LINE_HEIGHT * max(map(len, remarks)) + 0.1
    top = 0.45 + LINE_HEIGHT * len(heading)
    legend = 0.35 + 0.22 * math.ceil(len(styles_of(radar)) / (3 * across))
    height = top + down * (PANEL_HEIGHT + beneath) + legend
    figure = Figure(figsize=(PANEL_WIDTH * across, height))
    for at, panel in enumerate(radar.panels):
        corner = (at % across * PANEL_WIDTH, height - top - PANEL_HEIGHT - at // across * (PANEL_HEIGHT + beneath))
        _draw_panel(figure, panel, remarks[at], corner, styles, theme)
    _draw_heading(figure, radar, heading, theme)
    _draw_legend(figure, radar.panels, styles, theme)
    return figure


def _draw_heading(figure: Figure, radar: Radar, heading: Sequence[str], theme: Theme) -> None:
    height = figure.get_figheight()
    if heading:
        figure.text(
            0.5, 1 - 0.1 / height, "\n".join(heading), ha="center", va="top", weight="bold", size=8.5, color=theme.alarm
        )
    title = f"Scores by category. Backbone: {radar.backbone}"
    figure.text(
        0.5, 1 - (0.2 + LINE_HEIGHT * len(heading)) / height, title, ha="center", va="top", size=11, color=theme.text
    )


def _draw_legend(figure: Figure, panels: Sequence[Panel], styles: Styles, theme: Theme) -> None:
    names = {(series.memory, series.variant): series.name for panel in panels for series in panel.series}
    handles = [Line2D([], [], label=names[key], **_line(styles[key], theme)) for key in names]
    legend = figure.legend(
        handles=handles,
        loc="lower center",
        ncols=3 * min(2, len(panels)),
        frameon=False,
        handlelength=4,
        labelcolor=theme.text,
    )
    legend.set_in_layout(False)


def _draw_panel(
    figure: Figure,
    panel: Panel,
    remarks: Sequence[str],
    corner: tuple[float, float],
    styles: Styles,
    theme: Theme,
) -> None:
    """One environment in the box whose lower left corner is at `corner` (inches)."""
    width, height = figure.get_size_inches()
    radius, (x, y) = 1.45, (corner[0] + PANEL_WIDTH / 2, corner[1] + 1.98)
    box = ((x - radius) / width, (y - radius) / height, 2 * radius / width, 2 * radius / height)
    axes = figure.add_axes(box, projection="polar", label=panel.column.key)
    assert isinstance(axes, PolarAxes)
    _draw_axes(axes, panel, theme)
    for series in panel.series:
        _draw_series(axes, panel, series, styles[series.memory, series.variant], theme)
    title = f"{panel.column.label}: {panel.column.metric}, %"
    figure.text(x / width, (corner[1] + PANEL_HEIGHT - 0.25) / height, title, ha="center", size=10.5, weight="bold",
                color=theme.text)  # fmt: skip
    figure.text(x / width, (corner[1] + PANEL_HEIGHT - 0.45) / height, _subtitle(panel), ha="center", size=8,
                color=theme.text)  # fmt: skip
    figure.text(x / width, corner[1] / height, "\n".join(remarks), ha="center", va="top", size=8, linespacing=1.45,
                color=theme.text)  # fmt: skip


def _draw_axes(axes: PolarAxes, panel: Panel, theme: Theme) -> None:
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    axes.set_ylim(panel.floor, 100)
    angles = _angles(len(panel.categories))
    axes.set_xticks(angles, [""] * len(angles))
    step = 10 if panel.floor >= 50 else (20 if panel.floor >= 0 else 50)
    rings = [ring for ring in range(-100, 101, step) if ring > panel.floor + step / 4]
    axes.set_yticks(rings, [_signed(ring) for ring in rings], size=7, color=theme.text)
    axes.set_rlabel_position(math.degrees(angles[0] + math.pi / len(angles)) if angles else 0)
    axes.annotate(
        f"floor {_signed(panel.floor)}",
        xy=(0.5, 0.5), xycoords="axes fraction", xytext=(0, -3), textcoords="offset points",
        ha="center", va="top", size=7, color=theme.text, zorder=1.6,
        bbox={"boxstyle": "round,pad=0.15", "facecolor": theme.ground, "edgecolor": "none", "alpha": 0.75},
    )  # fmt: skip
    axes.grid(color=theme.grid, linewidth=0.6)
    axes.set_facecolor(theme.ground)
    axes.spines["polar"].set_color(theme.grid)
    size = 8.0 if len(angles) <= 12 else 6.5
    for angle, category in zip(angles, panel.categories, strict=True):
        across, up = math.sin(angle), math.cos(angle)
        axes.annotate(
            _label(category),
            xy=(0.5 + 0.53 * across, 0.5 + 0.53 * up),
            xycoords="axes fraction",
            ha="center" if abs(across) < 0.25 else ("left" if across > 0 else "right"),
            va="center" if abs(up) < 0.75 else ("bottom" if up > 0 else "top"),
            size=size,
            color=theme.text,
        )


def _draw_series(axes: PolarAxes, panel: Panel, series: Series, style: Style, theme: Theme) -> None:
    """The polygon; where a point is missing the line is interrupted, never drawn to the centre.

    Thin lines lie over thick ones, so that none hides another.
    """
    angles = _angles(len(panel.categories))
    radii = {at: panel.drawn(point.value) for at, point in enumerate(series.points) if point.value is not None}
    for path in _unbroken(radii, len(angles)):
        axes.plot(
            [angles[at] for at in path],
            [radii[at] for at in path],
            clip_on=False,
            zorder=4 - style.width / 10,
            gid=f"{panel.column.key}/{series.name}",
            **_line(style, theme),
        )


def _unbroken(known: Collection[int], count: int) -> list[list[int]]:
    """Indices of neighbouring known points around a circle of `count`; a full circle is closed."""
    missing = [at for at in range(count) if at not in known]
    if not missing:
        return [[*range(count), 0]] if count else []
    paths: list[list[int]] = [[]]
    for at in (index % count for index in range(missing[0], missing[0] + count)):
        if at in known:
            paths[-1].append(at)
        else:
            paths.append([])
    return [path for path in paths if path]


def _line(style: Style, theme: Theme) -> dict[str, Any]:
    colour = style.light if theme.name == "light" else style.dark
    return {
        "color": colour,
        "linewidth": style.width,
        "linestyle": (0, style.dashes) if style.dashes else "-",
        "marker": style.marker,
        "markersize": 3 + 1.6 * style.width,
        "markeredgecolor": theme.ground,
        "markeredgewidth": 0.5,
    }


def _angles(count: int) -> list[float]:
    return [2 * math.pi * at / count for at in range(count)]


def _subtitle(panel: Panel) -> str:
    runs = sorted({seeds(series.seeds) for series in panel.series})
    return f"axes begin at {_signed(panel.floor)}, not at 0; {' or '.join(runs)}"


def _label(category: Category) -> str:
    words = category.name.replace("_", " ")
    count = str(category.most) if category.fewest == category.most else f"{category.fewest}-{category.most}"
    return f"{textwrap.fill(words, 16)}\n(n = {count})"


def _signed(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def _remarks(panel: Panel) -> list[str]:
    """What is to be read beneath a panel, wrapped to its width."""
    texts = []
    if below := panel.below():
        named = _by_series((series.name, f"{where.name} {percent(value)}") for series, where, value in below)
        texts.append(f"Below the floor and drawn on it: {named}.")
    if gaps := panel.gaps():
        texts.append(f"No scored episode: {_by_series((series.name, where.name) for series, where in gaps)}.")
    if partial := [series.name for series in panel.series if series.partial]:
        texts.append(f"Partial, tasks are missing: {', '.join(partial)}.")
    if len(panel.categories) < 3:
        texts.append("Fewer than three categories: a line, not an area.")
    return [line for text in texts for line in textwrap.wrap(text, 76, break_on_hyphens=False)]


def _by_series(pairs: Iterable[tuple[str, str]]) -> str:
    """Texts gathered under the name of their series."""
    gathered: dict[str, list[str]] = {}
    for name, text in pairs:
        gathered.setdefault(name, []).append(text)
    return "; ".join(f"{name}: {', '.join(found)}" for name, found in gathered.items())
