"""Shows: small pictures for the gallery, and the choice of the picture."""

import numpy as np
import pytest
from PIL import Image

from ludus.dsl import draw
from ludus.evaluation import show


def shapes(count):
    return np.zeros(count, draw.SHAPE)


def test_the_richest_picture_is_from_the_last_third_but_not_the_end():
    frames = [shapes(count) for count in (90, 1, 1, 1, 1, 1, 1, 1, 3, 5, 4, 80)]
    assert len(show.richest(frames)) == 5
    assert len(show.richest([shapes(7)])) == 7


def test_frames_of_a_show_are_copies():
    frames = show.play("cartpole", "scripted", steps=5).frames
    assert len(frames) == 6 and len({frame.tobytes() for frame in frames}) == 6
    assert all(frame.base is None for frame in frames)


@pytest.mark.parametrize("name", ["tictactoe", "car", "goofspiel"])
def test_pictures_of_the_gallery_are_small(name, tmp_path):
    path = show.gallery(tmp_path, name)
    assert path == tmp_path / f"{name}.webp" and 500 < path.stat().st_size < 20_000
    with Image.open(path) as picture:
        assert picture.width == show.GALLERY_WIDTH and picture.format == "WEBP"
