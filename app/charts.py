"""The two charts, each built once over named data sources.

static/charts.js fills the sources and paints the colours: a model's tags name the style sheet's
colour for each of its properties ("fill_color:contiguous"), so that light and dark are one chart.
"""

from collections.abc import Sequence
from typing import Any

from bokeh.core.properties import value
from bokeh.model import Model
from bokeh.models import BasicTicker, ColumnDataSource, FixedTicker, Range1d
from bokeh.plotting import figure

from . import words

# The style sheet's family (see --serif): a canvas cannot read it from there.
SERIF = (
    '"Iowan Old Style", "Palatino Linotype", Palatino, "URW Palladio L", P052, "TeX Gyre Pagella", '
    '"Book Antiqua", "Source Serif 4", Charter, "Noto Serif", Georgia, "Liberation Serif", serif'
)
TEXT_SIZE = "14px"
KINDS = ("contiguous", "paged")
LEAST_TTFT_S, MOST_TTFT_S = 0.00025, 2000.0
HANDLE_PX = 28  # a strip above the plot, for the handle of the marker
_TICKS_S = {0.01: 2, 0.1: 1, 1: 0, 10: 0, 100: 0, 1000: 0}  # with so many decimals


def _blank_figure(**options: Any) -> figure:
    """Make a figure without a frame, tools or background, in the page's type."""
    plot = figure(
        toolbar_location=None,
        tools="",
        sizing_mode="stretch_both",
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        min_border=0,
        **options,
    )
    plot.grid.visible = False
    plot.axis.axis_label_text_font = SERIF
    plot.axis.axis_label_text_font_size = TEXT_SIZE
    plot.axis.axis_label_text_font_style = "italic"
    plot.axis.axis_label_standoff = 3
    plot.axis.major_label_text_font = SERIF
    plot.axis.major_label_text_font_size = TEXT_SIZE
    plot.axis.minor_tick_line_color = None
    plot.axis.major_tick_in = 0
    plot.axis.major_tick_out = 4
    return plot


def _source(name: str, columns: Sequence[str]) -> ColumnDataSource:
    return ColumnDataSource({column: [] for column in columns}, name=name)


def _paint(model: Model, **colours: str) -> None:
    """Say which of the style sheet's colours each colour property takes."""
    model.tags = [f"{name}:{colour}" for name, colour in colours.items()]


def _text(plot: figure, source: ColumnDataSource, colour: str, **options: Any) -> None:
    """Write labels from a source whose columns say where and how they hang."""
    text = plot.text(
        "x",
        "y",
        "text",
        x_offset="dx",
        y_offset="dy",
        text_align="align",
        source=source,
        text_font=value(SERIF),
        text_baseline="middle",
        **{"text_font_size": TEXT_SIZE, **options},
    )
    # A halo keeps lines that cross a label from striking it out.
    text.glyph.background_fill_alpha = 0.75
    _paint(text, text_color=colour, background_fill_color="paper")


LABEL_COLUMNS = ("x", "y", "text", "dx", "dy", "align")


def capacity_chart() -> figure:
    """Two bars, as long as requests fit, and filled from below as far as memory is in use."""
    plot = _blank_figure(
        name="capacity",
        x_range=Range1d(start=0, end=1),  # the script knows how far
        y_range=Range1d(start=-0.5, end=1.5),
    )
    plot.yaxis.visible = False
    plot.xaxis.ticker = BasicTicker(desired_num_ticks=5, num_minor_ticks=0)
    for row, kind in enumerate(reversed(KINDS)):
        bar = _source(f"capacity_{kind}", ("requests", "filled"))
        bottom, top = row - 0.42, row + 0.12
        reserved = plot.quad(
            left=0,
            right="requests",
            top=top,
            bottom=bottom,
            source=bar,
            line_width=1,
            hatch_pattern="right_diagonal_line",
            hatch_scale=7,
            hatch_weight=1,
        )
        _paint(reserved, fill_color=f"{kind}-empty", hatch_color=f"{kind}-tint", line_color=kind)
        in_use = plot.quad(
            left=0, right="requests", top="filled", bottom=bottom, source=bar, line_color=None
        )
        _paint(in_use, fill_color=kind)
        bar.tags = [bottom, top]
        _text(plot, _source(f"capacity_label_{kind}", LABEL_COLUMNS), kind, text_font_size="16px")
    return plot


def ttft_chart(most_rate: float) -> figure:
    """Median TTFT against rate on a log scale, with bands, sustained rates and the chosen one."""
    plot = _blank_figure(
        name="ttft",
        x_range=Range1d(start=0, end=most_rate + 1),
        y_range=Range1d(start=LEAST_TTFT_S, end=MOST_TTFT_S),
        y_axis_type="log",
        x_axis_label=words.fill("axis_rate"),
        min_border_top=HANDLE_PX,
    )
    plot.xaxis.ticker = FixedTicker(ticks=list(range(0, int(most_rate) + 1, 10)))
    plot.yaxis.ticker = FixedTicker(ticks=list(_TICKS_S))
    plot.yaxis.major_label_overrides = {
        tick: words.fill("second", count=words.fixed(tick, decimals))
        for tick, decimals in _TICKS_S.items()
    }
    plot.ygrid.visible = True
    for kind in KINDS:
        curve = _source(f"ttft_{kind}", ("rate", "low", "high", "steady", "growing"))
        band = plot.varea("rate", "low", "high", source=curve, fill_alpha=0.16)
        _paint(band, fill_color=kind)
        for column, dash in (("steady", []), ("growing", [5, 4])):
            line = plot.line(
                "rate", column, source=curve, line_width=2.5, line_dash=dash, line_join="round"
            )
            _paint(line, line_color=kind)
    _paint(plot.vspan("x", source=_source("chosen_rate", ("x",))), line_color="ink")
    for kind in KINDS:
        sustained = _source(f"sustained_{kind}", LABEL_COLUMNS)
        _paint(
            plot.scatter("x", "y", source=sustained, marker="inverted_triangle", size=9),
            fill_color=kind,
            line_color=kind,
        )
        _text(plot, sustained, kind)
        chosen = _source(f"chosen_{kind}", ("rate", *LABEL_COLUMNS))
        _paint(
            plot.scatter("rate", "y", source=chosen, size=9, line_width=1.5),
            fill_color=kind,
            line_color="paper",
        )
        _text(plot, chosen, kind, text_font_style="bold")
    return plot
