"""Heat maps: each cell has the colour of its share, names stay inside, and files are written atomically."""

import math

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from ludus.rendering import heatmap, plots
from ludus.types import LudusError

NAMES = ["perfect", "mcts(20)", "random"]
SHARES = [[math.nan, 0.9, 1.0], [0.1, math.nan, 0.5], [0.0, 0.5, math.nan]]


def drawn(names=NAMES, shares=SHARES, title="who beats whom"):
    made = heatmap.figure(names, shares, title)
    FigureCanvasAgg(made).draw()
    return made


def hexadecimal(color):
    return "#" + "".join(f"{round(255 * part):02x}" for part in color[:3])


def test_colours_run_from_lost_over_even_to_won():
    (image,) = drawn().axes[0].get_images()
    colors = [hexadecimal(image.to_rgba(share)) for share in (0.0, 1.0)]
    assert colors == [heatmap.LOST, heatmap.WON]
    even, grid = image.to_rgba(0.5)[:3], [int(plots.GRID[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    assert even == pytest.approx(grid, abs=0.02)


def test_every_cell_has_the_colour_and_the_percentage_of_its_share():
    axes = drawn().axes[0]
    np.testing.assert_array_equal(axes.get_images()[0].get_array().filled(math.nan), SHARES)
    cells = {(text.get_position()[::-1]): text.get_text() for text in axes.texts}
    assert cells == {(0, 1): "90", (0, 2): "100", (1, 0): "10", (1, 2): "50", (2, 0): "0", (2, 1): "50"}


def test_rows_and_columns_have_the_names_of_the_players():
    axes = drawn().axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == NAMES
    assert [label.get_text() for label in axes.get_xticklabels()] == NAMES
    assert axes.get_title(loc="left") == "who beats whom"


@pytest.mark.parametrize("count", [1, 2, 9, heatmap.MOST])
@pytest.mark.parametrize("name", ["a", "runs/a-very-long-name-of-a-run-0001/checkpoints/000120", "Jürgen 王"])
def test_nothing_is_painted_at_the_edge(tmp_path, count, name):
    heatmap.heatmap(tmp_path / "a.png", [name] * count, np.full((count, count), 0.7), "a title " * 30)
    with Image.open(tmp_path / "a.png") as file:
        picture = np.array(file)[:, :, :3]
    edges = [picture[:2], picture[-2:], picture[:, :2], picture[:, -2:]]
    background = [int(plots.BACKGROUND[place : place + 2], 16) for place in (1, 3, 5)]
    assert (np.concatenate([edge.reshape(-1, 3) for edge in edges]) == background).all()


def test_the_same_numbers_give_the_same_bytes(tmp_path):
    for name in ("a.png", "b.png"):
        heatmap.heatmap(tmp_path / name, NAMES, SHARES)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_zero_and_one_hundred_percent_are_exact():
    shares = (0, 0.001, 0.004, 0.25, 0.995, 0.9999, 1)
    assert [heatmap.percent(share) for share in shares] == ["0", "1", "1", "25", "99", "99", "100"]


@pytest.mark.parametrize(
    ("names", "shares", "words"),
    [
        (NAMES, np.zeros((2, 2)), "square"),
        ([], np.zeros((0, 0)), "1 to 40 names"),
        (["x"] * 41, np.zeros((41, 41)), "1 to 40 names"),
        (["x"], [[1.5]], "0 to 1"),
        (["x"], [[math.inf]], "0 to 1"),
    ],
)
def test_invalid_input_raises_an_error(tmp_path, names, shares, words):
    with pytest.raises(LudusError, match=words):
        heatmap.heatmap(tmp_path / "a.png", names, shares)
    assert not list(tmp_path.iterdir())


def test_only_png_files_are_written(tmp_path):
    with pytest.raises(LudusError, match=r"ends in \.png"):
        heatmap.heatmap(tmp_path / "a.jpg", NAMES, SHARES)
