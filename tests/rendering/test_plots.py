"""Plots: the figure holds the numbers, the words stay inside the picture, and files are written atomically."""

import itertools
import math
import pathlib
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.text import Text
from PIL import Image

from ludus.rendering import plots
from ludus.rendering.plots import COLORS, Series, curves, figure, spark
from ludus.types import LudusError

numbers = st.floats(allow_nan=True, allow_infinity=True, width=64)


def rgb(color):
    return np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)])


def linear(color):
    share = rgb(color) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def drawn(*series, **options):
    made = figure(series, **options)
    FigureCanvasAgg(made).draw()
    return made


def lines(made):
    """The curves by colour; every series also has a line of dots."""
    return {line.get_color(): line for line in made.axes[0].get_lines() if line.get_linestyle() == "-"}


def dots(made):
    return {
        line.get_color(): line.get_xydata().tolist() for line in made.axes[0].get_lines() if line.get_marker() == "o"
    }


def words(made):
    return [text.get_text() for text in made.findobj(Text) if text.get_visible() and text.get_text()]


def labels(made):
    return [text.get_text() for text in made.axes[0].get_xticklabels()]


def test_a_line_passes_through_its_points():
    made = drawn(Series("zigzag", [0, 10, 20], [0, 5, -5]), Series("flat", [0, 20], [1, 1]))
    found = lines(made)
    assert found[COLORS[0]].get_xydata().tolist() == [[0, 0], [10, 5], [20, -5]]
    assert found[COLORS[1]].get_xydata().tolist() == [[0, 1], [20, 1]]


def test_points_are_sorted_and_those_without_a_finite_x_are_left_out():
    made = drawn(Series("a", [math.nan, 2, 0, math.inf, 1], [50, 4, 0, 99, 3]))
    assert lines(made)[COLORS[0]].get_xydata().tolist() == [[0, 0], [1, 3], [2, 4]]


@pytest.mark.parametrize("missing", [math.nan, math.inf, -math.inf, None])
def test_numbers_that_are_not_finite_are_gaps(missing):
    made = drawn(Series("a", range(5), [1.0, 2.0, missing, 3.0, 4.0]))
    np.testing.assert_array_equal(lines(made)[COLORS[0]].get_ydata(), [1, 2, math.nan, 3, 4])


def test_a_band_lies_between_low_and_high():
    made = drawn(Series("a", [0, 10], [0, 0], [-4, -3], [2, 1]))
    (band,) = (part for part in made.axes[0].collections if part.get_paths() and not isinstance(part, LineCollection))
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    assert corners == {(0, -4), (10, -3), (10, 1), (0, 2)}
    assert band.get_facecolor()[0, :3] == pytest.approx(rgb(COLORS[0]) / 255)


def test_a_point_between_gaps_is_a_dot_with_a_bar():
    missing = math.nan
    made = drawn(Series("a", range(5), [1, missing, 2, missing, 3], [0] * 5, [4, missing, 5, missing, 6]))
    assert dots(made)[COLORS[0]] == [[0, 1], [2, 2], [4, 3]]
    (bars,) = (part for part in made.axes[0].collections if isinstance(part, LineCollection))
    assert [bar.tolist() for bar in bars.get_segments()] == [[[0, 0], [0, 4]], [[2, 0], [2, 5]], [[4, 0], [4, 6]]]


def test_the_last_point_of_a_curve_is_a_dot_with_its_value():
    made = drawn(
        Series("a", [0, 1, 2, 3], [1, 2, 487.31, math.nan]), title="car-0007", x_label="steps", y_label="score"
    )
    assert dots(made)[COLORS[0]] == [[2, 487.31]]
    assert {"487.3", "car-0007", "steps", "score"} <= set(words(made))


def test_several_series_have_a_legend_with_their_last_values():
    assert drawn(Series("first", [0, 1], [0, 1])).legends == []
    made = drawn(Series("first", [0, 1], [0, 1]), Series("_second$x$", [0, 1], [1, 25_000]), Series("none", [], []))
    (legend,) = made.legends
    assert [text.get_text() for text in legend.get_texts()] == ["first: 1", "_second$x$: 25.000k", "none"]
    assert [line.get_color() for line in legend.get_lines()] == list(COLORS[:3])


@pytest.mark.parametrize("series", [[], [Series("a", [], [])], [Series("a", [1, 2], [math.nan, None])]])
def test_no_scores_yet(series):
    assert words(drawn(*series, title="car-0007")) == ["no scores yet", "car-0007"]


def test_labels_of_steps_are_short_and_distinct():
    assert labels(drawn(Series("a", [0, 2_000_000], [0, 1])))[1:-1] == ["0", "500k", "1M", "1.5M", "2M"]
    near = labels(drawn(Series("a", range(1_000_000, 1_000_006), range(6))))
    assert len(set(near)) == len(near) > 3


def test_whole_numbers_have_whole_ticks():
    made = drawn(Series("a", [1, 2, 3], [0, 1, 0]))
    assert all(tick == round(tick) for tick in made.axes[0].get_xticks())


@pytest.mark.parametrize(
    ("value", "expected"),
    [(-0.0, "0"), (0.91324, "0.9132"), (487.31, "487.3"), (-21, "-21"), (1_234_000, "1.234M"), (1e16, "1e+16")],
)
def test_values_in_four_digits(value, expected):
    assert plots.value_text(value) == expected


def test_a_spike_of_a_huge_series_is_painted(tmp_path):
    values = np.zeros(300_000)
    values[123_457] = 1.0
    curves(tmp_path / "plot.png", [Series("huge", np.arange(300_000), values)])
    with Image.open(tmp_path / "plot.png") as picture:
        painted = np.abs(np.array(picture)[:, :, :3].astype(int) - rgb(COLORS[0])).max(axis=2) < 60
    assert painted[60:].any(axis=1).sum() > 300


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.tuples(numbers, numbers, numbers, numbers), max_size=12), max_size=8),
    st.text(max_size=60),
    st.tuples(st.integers(320, 700), st.integers(200, 400)),
)
def test_any_numbers_and_any_words_are_drawn_inside_the_picture(tmp_path_factory, rows, text, size):
    path = tmp_path_factory.getbasetemp() / "any.png"
    series = []
    for index, points in enumerate(rows):
        columns = np.array(points).reshape(-1, 4).T
        series.append(Series(text + str(index), *columns))
    curves(path, series, title=text, x_label=text, y_label=text, size=size)
    with Image.open(path) as picture:
        pixels = np.array(picture)[:, :, :3]
    assert pixels.shape == (size[1], size[0], 3)
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert (edge == rgb(plots.BACKGROUND)).all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("naïve – 5 × 3 ± 1", "naïve – 5 × 3 ± 1"), ("two\nlines\t", "two lines"), ("漢\0\ud800", "???"), ("$x$", "$x$")],
)
def test_texts_use_the_characters_of_the_font(text, expected):
    assert plots.fitted(text, 10, 1000) == expected


def test_long_names_lose_their_middle():
    names = [plots.fitted(f"{'long' * 20}-{index:04}", 10, 120) for index in range(3)]
    assert all(name.startswith("long") and name.endswith(f"-{index:04}") for index, name in enumerate(names))
    assert all("…" in name and len(name) < 30 for name in names)


def test_numbers_that_were_given_are_not_changed():
    x, y = np.array([3.0, 1.0, math.inf]), np.array([1.0, math.nan, 3.0])
    drawn(Series("a", x, y, y, y))
    spark(y)
    assert x.tolist() == [3.0, 1.0, math.inf]
    np.testing.assert_array_equal(y, [1.0, math.nan, 3.0])


def test_the_settings_of_the_caller_are_left_alone():
    before = dict(matplotlib.rcParams)
    drawn(Series("a", [0, 1], [0, 1]))
    assert dict(matplotlib.rcParams) == before


def test_colours_are_distinguishable_with_colour_blindness():
    """Distances in OKLab, as seen with and without one kind of cone (Machado et al. 2009), and contrast (WCAG)."""
    eyes = [
        np.eye(3),
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ]
    cones = [[0.4122215, 0.5363325, 0.0514460], [0.2119035, 0.6806995, 0.1073970], [0.0883025, 0.2817188, 0.6299787]]
    lab = [[0.2104543, 0.7936178, -0.0040720], [1.9779985, -2.4285922, 0.4505937], [0.0259040, 0.7827718, -0.8086758]]
    for eye in eyes:
        seen = [np.array(lab) @ np.cbrt(np.array(cones) @ np.clip(eye @ linear(color), 0, 1)) for color in COLORS]
        assert min(np.linalg.norm(one - other) for one, other in itertools.combinations(seen, 2)) > 0.1
    brightness = [float(np.dot([0.2126, 0.7152, 0.0722], linear(color))) for color in (plots.BACKGROUND, *COLORS)]
    assert all((bright + 0.05) / (brightness[0] + 0.05) > 4 for bright in brightness[1:])


def test_the_same_numbers_give_the_same_bytes(tmp_path):
    for name in ("one.png", "two.PNG"):
        curves(tmp_path / name, [Series("a", range(50), np.sin(range(50)))], "title", "steps", "score")
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.PNG").read_bytes()


def test_a_plot_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "plot.png"
    curves(path, [])
    before = path.read_bytes()

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pathlib.Path, "replace", full)
    with pytest.raises(LudusError, match="No space left on device"):
        curves(path, [Series("a", [0, 1], [0, 1])])
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["plot.png"]


def test_a_folder_that_is_missing_or_in_the_way(tmp_path):
    with pytest.raises(LudusError, match="does not exist; create it first"):
        curves(tmp_path / "nowhere" / "plot.png", [])
    (tmp_path / "plot.png").mkdir()
    with pytest.raises(LudusError, match="cannot write"):
        curves(tmp_path / "plot.png", [])
    assert [file.name for file in tmp_path.iterdir()] == ["plot.png"]


@pytest.mark.parametrize(
    ("series", "sentence"),
    [
        (Series("a", [1], [2]), "takes a list of series"),
        ([([1], [2])], "takes a list of series"),
        ([Series("a", [1, 2], [1])], '"a" has 2 x, 1 y, .*; give the same number of each'),
        ([Series("a", [1], [1], [0, 0], [2])], "2 low, 1 high; give the same number"),
        ([Series("a", [1], [1], low=[0])], "give both low and high, or neither"),
        ([Series("a", [[1]], [[1]])], r'x of series "a" must be a list of numbers, but is an array of shape \(1, 1\)'),
        ([Series("a", [1], ["high"])], 'y of series "a" must be a list of numbers'),
        ([Series("a", [1, 2], [[1], [2, 3]])], 'y of series "a" must be a list of numbers'),
        ([Series("a", [1], [1j])], 'y of series "a" must be a list of numbers'),
        ([Series("a", 3, 4)], "must be a list of numbers"),
        ([Series("a", [], [])] * 9, "has colours for 8 series and got 9"),
    ],
)
def test_wrong_series_raise_an_error(tmp_path, series, sentence):
    with pytest.raises(LudusError, match=sentence):
        curves(tmp_path / "plot.png", series)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["plot.jpg", "plot", "plot.png.gz"])
def test_other_endings_raise_an_error(tmp_path, name):
    with pytest.raises(LudusError, match=r"use a name that ends in \.png"):
        curves(tmp_path / name, [])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [(319, 540), (960, 199), (960.0, 540), (960, 540, 3), (10_000, 540)])
def test_other_sizes_raise_an_error(tmp_path, size):
    with pytest.raises(LudusError, match="whole numbers from 320x200 to 7680x4320"):
        curves(tmp_path / "plot.png", [], size=size)


@pytest.mark.parametrize(
    ("values", "width", "expected"),
    [
        ([], 40, ""),
        ([1, 2, 3, 4, 5, 6, 7, 8], 40, "▁▂▃▄▅▆▇█"),
        ([8, 1], 40, "█▁"),
        ([3, 3, 3], 40, "▅▅▅"),
        ([0, math.nan, 1, math.inf], 40, "▁ █ "),
        ([math.nan, None], 40, "  "),
        ([0, 2, 4, 6, 8, 10], 3, "▁▅█"),
        ([0, math.nan, 10, 10], 2, "▁█"),
        ([-1.7e308, 1.7e308], 2, "▁█"),
    ],
)
def test_spark(values, width, expected):
    assert spark(values, width) == expected


@given(st.lists(numbers, max_size=100), st.integers(1, 60))
def test_spark_has_its_width(values, width):
    line = spark(values, width)
    assert len(line) == min(width, len(values))
    assert set(line) <= set(plots.BLOCKS + " ")
    assert ("▁" in line or "▅" in line) == any(math.isfinite(value) for value in values)


def test_spark_without_width_raises_an_error():
    with pytest.raises(LudusError, match="width of 1 or more"):
        spark([1, 2], 0)


def test_matplotlib_is_imported_when_a_plot_is_drawn():
    script = "import sys, ludus.rendering.plots as p; p.spark([1, 2]); print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
