"""Heat maps: each cell has the colour of its share, names stay inside, and files are written atomically."""

import math

import numpy as np
import pytest
from PIL import Image

from ludus.rendering import heatmap
from ludus.types import LudusError

NAMES = ["perfect", "mcts(20)", "random"]
SHARES = [[math.nan, 0.9, 1.0], [0.1, math.nan, 0.5], [0.0, 0.5, math.nan]]


def drawn(folder, names=NAMES, shares=SHARES, title="who beats whom"):
    heatmap.heatmap(folder / "a.png", names, shares, title)
    with Image.open(folder / "a.png") as picture:
        assert picture.mode == "RGB"
        return np.array(picture).astype(int)


def rgb(code):
    return tuple(int(code[place : place + 2], 16) for place in (1, 3, 5))


def test_colours_run_from_lost_over_even_to_won():
    assert heatmap.color(0) == rgb(heatmap.LOST) and heatmap.color(1) == rgb(heatmap.WON)
    assert heatmap.color(0.5) == rgb(heatmap.GRID)
    blue = [heatmap.color(share)[2] for share in np.linspace(0.5, 1, 9)]
    assert blue == sorted(set(blue))


def test_every_cell_has_the_colour_of_its_share(tmp_path):
    picture = drawn(tmp_path)
    plan = heatmap.layout(NAMES, titled=True)
    assert picture.shape == (plan.height, plan.width, 3)
    for row, shares in enumerate(SHARES):
        for column, share in enumerate(shares):
            left, top = plan.corner(row, column)
            wanted = rgb(heatmap.BACKGROUND) if math.isnan(share) else heatmap.color(share)
            assert np.abs(picture[top + 8, left + plan.cell // 2] - wanted).max() <= 3, (row, column)


@pytest.mark.parametrize("count", [1, 2, 9, heatmap.MOST])
@pytest.mark.parametrize("name", ["a", "runs/a-very-long-name-of-a-run-0001/checkpoints/000120", "Jürgen 王"])
def test_nothing_is_painted_at_the_edge(tmp_path, count, name):
    picture = drawn(tmp_path, [name] * count, np.full((count, count), 0.7), "a title " * 30)
    edge = np.concatenate([picture[:4].reshape(-1, 3), picture[-4:].reshape(-1, 3)])
    sides = np.concatenate([picture[:, :4].reshape(-1, 3), picture[:, -4:].reshape(-1, 3)])
    assert (np.concatenate([edge, sides]) == rgb(heatmap.BACKGROUND)).all()


def test_the_same_numbers_give_the_same_bytes(tmp_path):
    first = drawn(tmp_path)
    data = (tmp_path / "a.png").read_bytes()
    assert (drawn(tmp_path) == first).all() and (tmp_path / "a.png").read_bytes() == data


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
