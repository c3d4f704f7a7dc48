"""Plots: lines pass through their points, labels do not overlap and stay inside, and files are written atomically."""

import itertools
import math
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from PIL import Image

from ludus.rendering import plots
from ludus.rendering.plots import COLORS, Series, curves, layout, painting, spark
from ludus.rendering.plots.layout import Words
from ludus.rendering.plots.numbers import label, ticks, value_text
from ludus.rendering.plots.series import checked, curve_of
from ludus.types import LudusError

SILENT = Words("", "", "")
SIZE = (960, 540)
numbers = st.floats(allow_nan=True, allow_infinity=True, width=64)


def rgb(color):
    return np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)])


def pixels(path):
    with Image.open(path) as picture:
        assert picture.mode == "RGB"
        return np.array(picture).astype(int)


def drawn(folder, *series, **options):
    curves(folder / "plot.png", series, **options)
    return pixels(folder / "plot.png")


def painted_in(picture, color):
    """[H, W] where the picture has nearly this colour."""
    return np.abs(picture - rgb(color)).max(axis=2) < 24


def spot(series, x, y, words=SILENT):
    """The row and the column of the pixel of a point in a plot of SIZE."""
    factor = plots.SMOOTHING
    large = (SIZE[0] * factor, SIZE[1] * factor)
    horizontal, vertical = layout.axes(checked(series), words, large, factor)
    return int(vertical.place(y) / factor), int(horizontal.place(x) / factor)


def linear(color):
    share = rgb(color) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def test_a_line_passes_through_its_points_and_nowhere_else(tmp_path):
    series = Series("zigzag", [0, 10, 20, 30], [0, 5, -5, 100])
    blue = painted_in(drawn(tmp_path, series), COLORS[0])
    for x, y in ((0.1, 0.05), (5, 2.5), (10, 5), (15, 0), (20, -5), (25, 47.5), (29.9, 99.475)):
        row, column = spot([series], x, y)
        assert blue[row - 1 : row + 2, column].any(), (x, y)
    for x, y in ((5, 20), (15, -4), (15, 10), (25, 70), (25, 30)):
        row, column = spot([series], x, y)
        assert not blue[row - 2 : row + 3, column - 2 : column + 3].any(), (x, y)


def test_higher_numbers_are_higher_and_later_ones_further_right():
    series = [Series("a", [0, 100], [-1, 1])]
    (low_row, left), (high_row, right) = spot(series, 0, -1), spot(series, 100, 1)
    assert low_row > high_row + 300 and right > left + 700


def test_the_grid_stands_at_the_ticks(tmp_path):
    series = Series("a", [0, 10], [0, 10])
    picture = drawn(tmp_path, series)
    row, column = spot([series], 8, 2)
    assert (picture[row, column + 9] == rgb(plots.GRID)).all()
    assert (picture[row + 9, column] == rgb(plots.GRID)).all()
    assert (picture[row + 9, column + 9] == rgb(plots.BACKGROUND)).all()


def test_a_flat_line_is_level_and_in_the_middle(tmp_path):
    series = Series("flat", range(5), [500.0] * 5)
    blue = painted_in(drawn(tmp_path, series), COLORS[0])
    row, left = spot([series], 0, 500)
    _, right = spot([series], 4, 500)
    assert blue[row, left : right + 1].all()
    assert not blue[row - 20, left : right - 10].any() and not blue[row + 20, left : right - 10].any()


def test_order_of_the_points_does_not_matter(tmp_path):
    forward = drawn(tmp_path, Series("a", [0, 1, 2, 3], [0, 3, 1, 2], [-1, 2, 0, 1], [1, 4, 2, 3]))
    mixed = drawn(tmp_path, Series("a", [2, 0, 3, 1], [1, 0, 2, 3], [0, -1, 1, 2], [2, 1, 3, 4]))
    assert (forward == mixed).all()


def test_a_band_lies_between_low_and_high(tmp_path):
    series = Series("a", [0, 10], [0, 0], [-4, -4], [2, 2])
    picture = drawn(tmp_path, series)
    tint = (rgb(plots.BACKGROUND) + (rgb(COLORS[0]) - rgb(plots.BACKGROUND)) * 52 / 255).round()
    for y, inside in ((1.5, True), (-3.5, True), (2.2, False), (-4.2, False)):
        row, column = spot([series], 4.55, y)
        assert (np.abs(picture[row, column] - tint).max() <= 2) == inside, y


@pytest.mark.parametrize("missing", [math.nan, math.inf, -math.inf, None])
def test_numbers_that_are_not_finite_are_gaps(tmp_path, missing):
    series = Series("a", range(11), [1.0] * 4 + [missing] * 3 + [1.0] * 4)
    blue = painted_in(drawn(tmp_path, series), COLORS[0])
    for x, there in ((2, True), (3, True), (4, False), (5, False), (6, False), (7, True), (9, True)):
        row, column = spot([series], x, 1.0)
        assert blue[row, column] == there, x


def test_a_point_between_gaps_is_a_dot(tmp_path):
    series = Series("a", range(5), [1.0, math.nan, 1.0, math.nan, 1.0])
    blue = painted_in(drawn(tmp_path, series), COLORS[0])
    row, column = spot([series], 2, 1.0)
    assert blue[row - 1 : row + 2, column - 1 : column + 2].all()
    assert not blue[row, column + 6] and not blue[row, column - 6]


def test_points_without_a_finite_x_are_left_out(tmp_path):
    whole = drawn(tmp_path, Series("a", [0, 1, 2], [0, 1, 0]))
    broken = drawn(tmp_path, Series("a", [math.nan, 0, 1, math.inf, 2], [50, 0, 1, 99, 0]))
    assert (whole == broken).all()


def test_a_point_alone_is_a_dot_and_its_band_a_bar(tmp_path):
    series = Series("a", [1000], [12.5], [11.0], [14.0])
    picture = drawn(tmp_path, series)
    row, column = spot([series], 1000, 12.5)
    assert painted_in(picture, COLORS[0])[row - 2 : row + 3, column - 2 : column + 3].all()
    for y, there in ((11.2, True), (13.8, True), (14.1, False), (10.9, False)):
        row, column = spot([series], 1000, y)
        assert (picture[row, column, 2] > 120) == there, y


@pytest.mark.parametrize("series", [[], [Series("a", [], [])], [Series("a", [1, 2], [math.nan, None])]])
def test_no_scores_yet(tmp_path, series):
    curves(tmp_path / "plot.png", series, title="car-0007")
    picture = pixels(tmp_path / "plot.png")
    assert picture.shape == (540, 960, 3)
    ink = np.argwhere(painted_in(picture[100:480], plots.INK))
    middle = (ink.min(axis=0) + ink.max(axis=0)) / 2 + (100, 0)
    assert np.abs(middle - (260, 460)).max() < 30
    assert not painted_in(picture, COLORS[0]).any()


def test_only_several_series_have_a_legend(tmp_path):
    one = Series("first", [0, 1], [0, 1])
    alone = drawn(tmp_path, one)
    both = drawn(tmp_path, one, Series("second", [0, 1], [1, 0]))
    strip = slice(0, 40), slice(0, 900)
    assert not painted_in(alone[strip], COLORS[0]).any()
    assert painted_in(both[strip], COLORS[0]).any() and painted_in(both[strip], COLORS[1]).any()
    assert painted_in(both[strip], plots.TITLE).any()


def test_a_spike_and_a_gap_of_a_huge_series_are_seen(tmp_path):
    values = np.zeros(300_000)
    values[123_457] = 1.0
    values[200_000:220_000] = math.nan
    series = Series("huge", np.arange(300_000), values)
    blue = painted_in(drawn(tmp_path, series), COLORS[0])
    row, column = spot([series], 123_457, 0.9)
    assert blue[row, column - 1 : column + 2].any()
    for x, there in ((100_000, True), (199_000, True), (201_000, False), (219_000, False), (221_000, True)):
        row, column = spot([series], x, 0.0)
        assert blue[row, column] == there, x


def test_thinning_paints_the_same_picture(tmp_path, monkeypatch):
    dice = np.random.default_rng(5)
    values = np.cumsum(dice.normal(size=40_000))
    values[dice.random(40_000) < 0.001] = math.nan
    series = Series("walk", np.arange(40_000), values, values - 9, values + 9)
    thin = drawn(tmp_path, series)
    monkeypatch.setattr(painting, "thinned", lambda curve, axis: curve)
    every = drawn(tmp_path, series)
    assert (np.abs(thin - every).max(axis=2) > 40).mean() < 0.002


def test_thinning_keeps_four_points_a_column():
    curve = curve_of(Series("a", np.arange(100_000), np.sin(np.arange(100_000))))
    axis = layout.Axis(0, 99_999, 0.0, 1000.0, ticks(0, 99_999, 5))
    thin = painting.thinned(curve, axis)
    assert len(thin.x) == 4 * 1001
    assert (np.diff(thin.x) >= 0).all()
    assert thin.x[:4].tolist() == [0, 0, 99, 99]
    assert thin.y[:4].tolist() == [0, curve.y[:100].min(), curve.y[:100].max(), curve.y[99]]
    assert thin.y.max() == curve.y.max() and thin.y.min() == curve.y.min()


@pytest.mark.parametrize(
    ("low", "high", "count", "expected"),
    [
        (0, 1, 5, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 1, 10, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]),
        (0, 100, 4, [0, 50, 100]),
        (0, 100, 5, [0, 20, 40, 60, 80, 100]),
        (-1, 1, 4, [-1, -0.5, 0, 0.5, 1]),
        (-21.3, 480.2, 6, [0, 100, 200, 300, 400]),
        (0, 2_000_000, 4, [0, 500_000, 1_000_000, 1_500_000, 2_000_000]),
        (3, 7e-7 + 3, 4, [3, 3.0000002, 3.0000004, 3.0000006]),
        (0, 5e-7, 5, [0, 1e-7, 2e-7, 3e-7, 4e-7, 5e-7]),
        (-1e300, 1e300, 4, [-1e300, -5e299, 0, 5e299, 1e300]),
    ],
)
def test_ticks(low, high, count, expected):
    assert ticks(low, high, count).values == expected


def test_whole_numbers_have_whole_ticks():
    assert ticks(1, 3, 8).values == [1, 1.5, 2, 2.5, 3]
    assert ticks(1, 3, 8, whole=True).values == [1, 2, 3]


@pytest.mark.parametrize(
    ("value", "step", "expected"),
    [
        (0, 0.2, "0"),
        (0.30000000000000004, 0.1, "0.3"),
        (1, 0.5, "1.0"),
        (-20, 10, "-20"),
        (800, 200, "800"),
        (1000, 200, "1.0k"),
        (1000, 1000, "1k"),
        (1004, 2, "1004"),
        (200_000, 200_000, "200k"),
        (1_200_000, 200_000, "1.2M"),
        (1_005_000, 5_000, "1005k"),
        (2e9, 1e9, "2G"),
        (-3e12, 1e12, "-3T"),
        (5e15, 1e15, "5e15"),
        (1.5e-5, 5e-6, "1.5e-5"),
        (0.0003, 0.0001, "0.0003"),
        (3.0000002, 2e-7, "3.0000002"),
    ],
)
def test_labels(value, step, expected):
    assert label(value, step) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (0.91324, "0.9132"),
        (0.0005, "0.0005"),
        (487.31, "487.3"),
        (-21, "-21"),
        (9999.9, "10k"),
        (1_234_000, "1.234M"),
        (3.14e-7, "3.14e-7"),
        (1e300, "1e300"),
    ],
)
def test_values_in_four_digits(value, expected):
    assert value_text(value) == expected


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.integers(1, 20), st.booleans())
def test_ticks_are_inside_and_have_different_labels(one, other, count, whole):
    low, high = layout.limits([np.array([one, other])])
    found = ticks(low, high, count, whole)
    slack = 1e-5 * found.step
    assert len(found.values) <= count + 1
    assert all(low - slack <= mark <= high + slack for mark in found.values)
    assert len({label(mark, found.step) for mark in found.values}) == len(found.values)
    assert f"{found.step:e}"[0] in "125" and float(f"{found.step:.0e}") == found.step


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.tuples(numbers, numbers, numbers, numbers), max_size=12), max_size=8),
    st.text(max_size=60),
    st.tuples(st.integers(320, 700), st.integers(200, 400)),
)
def test_any_numbers_and_any_words_are_drawn_inside_the_picture(tmp_path_factory, rows, words, size):
    path = tmp_path_factory.getbasetemp() / "any.png"
    series = []
    for index, points in enumerate(rows):
        columns = np.array(points).reshape(-1, 4).T
        series.append(Series(words + str(index), *columns))
    curves(path, series, title=words, x_label=words, y_label=words, size=size)
    picture = pixels(path)
    assert picture.shape == (size[1], size[0], 3)
    edge = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
    assert (edge == rgb(plots.BACKGROUND)).all()


@example(values=[-5.365635807e-11, -5.3656357e-11], whole=False, right=1000)
@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=30), st.booleans(), st.integers(200, 2000))
def test_labels_under_the_axis_do_not_touch(values, whole, right):
    part = np.floor(values) if whole else np.array(values)
    axis = layout.horizontal_axis([part], 50.0, float(right), 1.0)
    spans = [
        (axis.place(mark) - plots.text_width(words, 14) / 2, axis.place(mark) + plots.text_width(words, 14) / 2)
        for mark in axis.ticks.values
        for words in [label(mark, axis.ticks.step)]
    ]
    assert all(before[1] + 4 < after[0] for before, after in itertools.pairwise(spans))


@given(st.lists(st.floats(100, 400), max_size=8).map(sorted))
def test_values_at_the_right_stay_apart(wanted):
    places = layout.apart(wanted, 17, 100, 400)
    assert len(places) == len(wanted)
    assert all(after - before >= 17 - 1e-6 for before, after in itertools.pairwise(places))
    assert all(100 - 1e-6 <= place <= 400 + 1e-6 for place in places)
    if all(after - before > 17 for before, after in itertools.pairwise(wanted)):
        assert places == pytest.approx(wanted)


def test_equal_ends_have_two_values_that_do_not_cover_each_other(tmp_path):
    series = [Series("a", [0, 1], [0, 5]), Series("b", [0, 1], [10, 5])]
    picture = drawn(tmp_path, *series)
    _, column = spot(series, 1, 5)
    blueness = picture[60:, column + 8 :, 2] - picture[60:, column + 8 :, 0]
    first, second = (np.flatnonzero((sign * blueness > 40).any(axis=1)) for sign in (1, -1))
    assert len(first) >= 8 and len(second) >= 8
    assert first.max() < second.min() or second.max() < first.min()


def test_dots_lead_from_a_curve_that_stops_early_to_its_value(tmp_path):
    series = [Series("short", [0, 1, 2], [3, 3, 3]), Series("long", [0, 10], [0, 10])]
    row, column = spot(series, 6, 3)
    strip = painted_in(drawn(tmp_path, *series)[row - 1 : row + 2, column : column + 200], COLORS[0]).any(axis=0)
    assert 15 <= strip.sum() <= 100


def test_a_long_label_at_the_left_is_not_cut(tmp_path):
    picture = drawn(tmp_path, Series("a", [-5.365635800e-11, -5.365635770e-11], [1, 2]))
    assert painted_in(picture[505:, 2:40], plots.INK).any()
    assert (picture[:, :2] == rgb(plots.BACKGROUND)).all()


def test_values_that_would_touch_move_apart_around_their_middle():
    assert layout.apart([200, 200, 300], 20, 0, 400) == [190, 210, 300]


def test_long_names_lose_their_middle_and_the_legend_has_two_rows_at_most():
    given_curves = [curve_of(Series(f"{'long' * 20}-{index:04}", [], [])) for index in range(8)]
    rows = layout.legend_rows(given_curves, 960, 1.0)
    assert len(rows) == 2
    names = [(x, name) for row in rows for x, _, name in row]
    assert all(name.startswith("long") and name.endswith(f"-{index:04}") for index, (_, name) in enumerate(names))
    assert all(x + 25 + plots.text_width(name, 15) <= 960 for x, name in names)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("naïve – 5 × 3 ± 1", "naive - 5 x 3 ± 1"),
        ("two\nlines\t", "two lines"),
        ("漢\0\ud800", "???"),
        ("ﬁt…", "fit..."),
    ],
)
def test_texts_use_the_characters_of_the_font(words, expected):
    assert plots.drawable(words) == expected


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


def test_numbers_that_were_given_are_not_changed(tmp_path):
    x, y = np.array([3.0, 1.0, math.inf]), np.array([1.0, math.nan, 3.0])
    drawn(tmp_path, Series("a", x, y, y, y))
    spark(y)
    assert x.tolist() == [3.0, 1.0, math.inf]
    np.testing.assert_array_equal(y, [1.0, math.nan, 3.0])


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


def test_pillow_is_imported_when_a_plot_is_drawn():
    script = "import sys, ludus.rendering.plots; ludus.rendering.plots.spark([1, 2]); print('PIL' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
