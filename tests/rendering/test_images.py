"""Pictures: every renderer draws the shapes of the scene, and files are written atomically."""

import io
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from PIL import Image

from ludus import games
from ludus.dsl import draw
from ludus.pool import Pool
from ludus.rendering import images
from ludus.types import LudusError

FRAME = (100, 60)


def canvas_of(*words):
    canvas = draw.new_canvas()
    for word, arguments in words:
        word(canvas[0], *arguments)
    return canvas[0]["shapes"][: canvas[0]["count"]]


def test_pixels_have_the_colours_of_the_shapes():
    shapes = canvas_of(
        (draw.rect, (0, 0, 100, 60, 0x102030)),
        (draw.circle, (20, 30, 10, 0xFF0000)),
        (draw.line, (50, 10, 50, 50, 6, 0x00FF00)),
        (draw.rect, (70, 20, 20, 20, 0x0000FF)),
    )
    pixels = images.raster(shapes, FRAME)
    assert pixels.shape == (60, 100, 3)
    assert tuple(pixels[2, 2]) == (0x10, 0x20, 0x30)
    assert tuple(pixels[30, 20]) == (255, 0, 0)
    assert tuple(pixels[30, 50]) == (0, 255, 0)
    assert tuple(pixels[30, 80]) == (0, 0, 255)
    assert tuple(pixels[30, 35]) == (0x10, 0x20, 0x30)


def test_a_rotated_rectangle_covers_its_area():
    shapes = canvas_of((draw.rect, (30, 25, 40, 10, 0xFFFFFF, 0.0, 90.0)))
    pixels = images.raster(shapes, FRAME)
    assert tuple(pixels[15, 50]) == (255, 255, 255)
    assert tuple(pixels[30, 35]) == (0, 0, 0)


def test_text_and_numbers_leave_ink_around_their_point():
    for word, value in ((draw.text, b"win"), (draw.integer, -105)):
        pixels = images.raster(canvas_of((word, (50, 30, 20, 0xFFFFFF, value))), FRAME)
        assert pixels[20:40, 30:70].max() > 200
        assert pixels[:, :10].max() == 0


@pytest.mark.parametrize("name", games.names())
def test_every_scene_draws_in_every_form(name):
    pool = Pool(name, 1, [3], threads=1)
    shapes, frame = pool.scene(), pool.spec.frame
    assert len(np.unique(images.raster(shapes, frame).reshape(-1, 3), axis=0)) > 3
    root = ElementTree.fromstring(images.svg(shapes, frame))
    assert len(root) == (shapes["kind"] != draw.AREA).sum()
    lines = images.terminal(shapes, frame, columns=40).split("\n")
    assert {line.count("▀") for line in lines} == {40}


def test_areas_are_invisible():
    area = (draw.area, (10, 10, 50, 30, 3))
    for around in ((draw.rect, (0, 0, 100, 60, 0x102030)), (draw.circle, (20, 30, 10, 0xFF0000))):
        with_area, without = canvas_of(around, area), canvas_of(around)
        assert len(with_area) == 2
        np.testing.assert_array_equal(images.raster(with_area, FRAME), images.raster(without, FRAME))
        assert images.svg(with_area, FRAME) == images.svg(without, FRAME)
        assert images.terminal(with_area, FRAME) == images.terminal(without, FRAME)


def test_svg_escapes_text():
    assert "&lt;b&gt;" in images.svg(canvas_of((draw.text, (50, 30, 12, 0, b"<b>"))), FRAME)


def test_gif_holds_all_frames(tmp_path):
    frames = [canvas_of((draw.circle, (10 + 20 * step, 30, 8, 0xFFFFFF))) for step in range(4)]
    images.save(tmp_path / "moving.gif", frames, FRAME)
    with Image.open(tmp_path / "moving.gif") as moving:
        assert moving.n_frames == 4
        assert moving.size == FRAME


def test_png_and_svg_show_the_last_frame(tmp_path):
    frames = [canvas_of((draw.rect, (0, 0, 100, 60, color))) for color in (0xFF0000, 0x00FF00)]
    images.save(tmp_path / "still.png", frames, FRAME, scale=0.5)
    pixels = np.array(Image.open(io.BytesIO((tmp_path / "still.png").read_bytes())))
    assert pixels.shape == (30, 50, 3)
    assert tuple(pixels[15, 25]) == (0, 255, 0)
    images.save(tmp_path / "still.svg", frames, FRAME)
    assert "#00ff00" in (tmp_path / "still.svg").read_text()


def test_webp_is_small_and_shows_the_last_frame(tmp_path):
    frames = [canvas_of((draw.rect, (0, 0, 100, 60, color))) for color in (0xFF0000, 0x00FF00)]
    images.save(tmp_path / "still.webp", frames, FRAME)
    with Image.open(tmp_path / "still.webp") as still:
        assert still.size == FRAME and still.format == "WEBP"
        assert still.getpixel((50, 30))[1] > 240 > 20 > still.getpixel((50, 30))[0]


def test_a_video_decodes_to_its_frames_at_its_pace(tmp_path):
    av = pytest.importorskip("av")
    frames = [canvas_of((draw.rect, (20 * step, 0, 20, 60, 0xFFFFFF))) for step in range(5)]
    images.save(tmp_path / "moving.mp4", frames, (101, 61), fps=4, scale=1.0)
    with av.open(tmp_path / "moving.mp4") as container:
        decoded = [frame.to_ndarray(format="gray") for frame in container.decode(video=0)]
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.width, stream.height) == ("h264", 102, 62)
        assert float(stream.average_rate) == 12 and len(decoded) == 15
        assert abs(float(container.duration / 1e6) - 5 / 4) < 0.05
    for step in range(5):
        picture = decoded[3 * step]
        bright = [picture[20:40, 20 * place + 5 : 20 * place + 15].mean() > 128 for place in range(5)]
        assert bright == [place == step for place in range(5)]


def test_a_video_without_its_library_raises_an_error(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    shapes = canvas_of((draw.circle, (10, 10, 5, 0xFFFFFF)))
    with pytest.raises(LudusError, match=r"pip install 'ludus\[video\]'"):
        images.save(tmp_path / "x.mp4", [shapes], FRAME)
    assert list(tmp_path.iterdir()) == []


def test_bad_paths_raise_an_error_and_leave_no_file(tmp_path):
    shapes = canvas_of((draw.circle, (10, 10, 5, 0xFFFFFF)))
    with pytest.raises(LudusError, match=r"use a name that ends in \.png, \.webp, \.svg, \.gif or \.mp4"):
        images.save(tmp_path / "picture.bmp", [shapes], FRAME)
    with pytest.raises(LudusError, match="does not exist"):
        images.save(tmp_path / "nowhere" / "picture.png", [shapes], FRAME)
    (tmp_path / "taken.png").mkdir()
    with pytest.raises(LudusError, match="cannot write"):
        images.save(tmp_path / "taken.png", [shapes], FRAME)
    assert [path.name for path in tmp_path.iterdir()] == ["taken.png"]
