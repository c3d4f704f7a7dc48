"""Render the shapes of a `scene`: pixels, PNG, WebP, GIF, SVG, video and text for the terminal."""

from __future__ import annotations

import functools
import io
import math
import pathlib
from collections.abc import Iterable, Sequence
from fractions import Fraction
from xml.sax.saxutils import escape

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from ludus.dsl.draw import AREA, CIRCLE, LINE, RECT, TEXT
from ludus.files import write_atomically
from ludus.types import Array, LudusError

SMOOTHING = 2
"""supersampling factor: pictures are drawn this many times larger and then reduced, which smooths edges"""
SLOWEST_VIDEO = 12.0
"""minimum frames per second of a video; some video players show nothing at lower rates"""
Frame = tuple[int, int]
STILL, MOVING = (".png", ".webp", ".svg"), (".gif", ".mp4")
ENDINGS = f"{', '.join((*STILL, MOVING[0]))} or {MOVING[1]}"


def image(shapes: Array, frame: Frame, scale: float = 1.0) -> Image.Image:
    """Draw shapes with Pillow; pixels [H, W, 3] of foreign games are only resized."""
    if shapes.dtype.names is None:
        return Image.fromarray(shapes).resize((round(shapes.shape[1] * scale), round(shapes.shape[0] * scale)))
    factor = scale * SMOOTHING
    canvas = Image.new("RGB", (round(frame[0] * factor), round(frame[1] * factor)), "black")
    pen = ImageDraw.Draw(canvas)
    for shape in visible(shapes):
        PAINTERS[int(shape["kind"])](pen, shape, factor)
    return canvas.resize((round(frame[0] * scale), round(frame[1] * scale)), Image.Resampling.LANCZOS)


def raster(shapes: Array, frame: Frame, scale: float = 1.0) -> Array:
    """[H, W, 3] bytes."""
    return np.array(image(shapes, frame, scale))


def svg(shapes: Array, frame: Frame) -> str:
    """The shapes as a vector picture."""
    if shapes.dtype.names is None:
        raise LudusError("this game draws pixels, not shapes, so it cannot be saved as .svg; write a .png or a .gif")
    width, height = frame
    body = "\n".join(_svg_shape(shape) for shape in visible(shapes))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" text-anchor="middle" dominant-baseline="central">\n{body}\n</svg>\n'
    )


def visible(shapes: Array) -> Array:
    """All shapes except the invisible areas."""
    seen: Array = shapes[shapes["kind"] != AREA]
    return seen


def terminal(shapes: Array, frame: Frame, columns: int = 80) -> str:
    """Half-block characters in 24-bit colour: two pixels per character."""
    picture = image(shapes, frame)
    rows = max(2, round(columns * picture.height / picture.width / 2) * 2)
    pixels = np.array(picture.resize((columns, rows), Image.Resampling.LANCZOS))
    return "\n".join(_terminal_line(pixels[row], pixels[row + 1]) for row in range(0, rows, 2))


def save(path: pathlib.Path, frames: Sequence[Array], frame: Frame, fps: float = 20.0, scale: float = 1.0) -> None:
    """Write the last frame as .svg, .png or .webp, or all frames as .gif or .mp4, atomically."""
    kind = path.suffix.lower()
    if not frames:
        raise LudusError(f"there is nothing to draw for {path}: the game has no scene; write one in its module")
    if kind == ".svg":
        data = svg(frames[-1], frame).encode()
    elif kind == ".png":
        data = _encoded(image(frames[-1], frame, scale), "PNG")
    elif kind == ".webp":
        data = _encoded(image(frames[-1], frame, scale), "WEBP", quality=65, method=6)
    elif kind == ".gif":
        data = gif((image(shapes, frame, scale) for shapes in frames), fps)
    elif kind == ".mp4":
        data = video((image(shapes, frame, scale) for shapes in frames), fps)
    else:
        raise LudusError(f'cannot write a picture to "{path}"; use a name that ends in {ENDINGS}')
    write_atomically(path, data)


def gif(images: Iterable[Image.Image], fps: float) -> bytes:
    """An animated GIF that loops."""
    # One palette for all frames, so that only the differences between them are stored.
    pictures = list(images)
    palette = pictures[len(pictures) // 2].quantize(128)
    first, *rest = (picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures)
    pause = max(20, round(1000 / fps))
    return _encoded(first, "GIF", save_all=True, append_images=rest, duration=pause, loop=0, optimize=True)


def video(images: Iterable[Image.Image], fps: float) -> bytes:
    """H.264 in an MP4 file, which browsers and phones play; frames of slow games are repeated."""
    try:
        import av
    except ImportError:
        raise LudusError("videos need PyAV: pip install 'ludus[video]'; or use a name that ends in .gif") from None
    repeats = max(1, math.ceil(SLOWEST_VIDEO / fps))
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("libx264", Fraction(fps * repeats).limit_denominator(1000))
        stream.pix_fmt, stream.options = "yuv420p", {"crf": "20"}
        for index, picture in enumerate(images):
            # yuv420p needs an even width and height.
            even = picture.crop((0, 0, picture.width + picture.width % 2, picture.height + picture.height % 2))
            if index == 0:
                stream.width, stream.height = even.size
            for _ in range(repeats):
                container.mux(stream.encode(av.VideoFrame.from_image(even)))
        container.mux(stream.encode())
    return buffer.getvalue()


def _encoded(picture: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def _color(shape: np.void) -> str:
    return f"#{int(shape['color']) & 0xFFFFFF:06x}"


def words(shape: np.void) -> str:
    return bytes(shape["text"][: shape["letters"]]).decode("utf-8", "replace")


def corners(shape: np.void, factor: float) -> list[tuple[float, float]]:
    """The corners of a rotated rectangle."""
    half_width, half_height = float(shape["w"]) / 2, float(shape["h"]) / 2
    cosine, sine = (turn(math.radians(float(shape["angle"]))) for turn in (math.cos, math.sin))
    x, y = float(shape["x"]) + half_width, float(shape["y"]) + half_height
    ends = [
        (-half_width, -half_height),
        (half_width, -half_height),
        (half_width, half_height),
        (-half_width, half_height),
    ]
    return [(factor * (x + a * cosine - b * sine), factor * (y + a * sine + b * cosine)) for a, b in ends]


def _paint_rect(pen: ImageDraw.ImageDraw, shape: np.void, factor: float) -> None:
    x, y, width, height, corner = (factor * float(shape[name]) for name in ("x", "y", "w", "h", "size"))
    if float(shape["angle"]):
        pen.polygon(corners(shape, factor), fill=_color(shape))
    else:
        pen.rounded_rectangle((x, y, x + width - 1, y + height - 1), corner, fill=_color(shape))


def _paint_circle(pen: ImageDraw.ImageDraw, shape: np.void, factor: float) -> None:
    x, y, radius = (factor * float(shape[name]) for name in ("x", "y", "w"))
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=_color(shape))


def _paint_line(pen: ImageDraw.ImageDraw, shape: np.void, factor: float) -> None:
    x1, y1, x2, y2, width = (factor * float(shape[name]) for name in ("x", "y", "w", "h", "size"))
    pen.line((x1, y1, x2, y2), fill=_color(shape), width=max(1, round(width)))
    if width >= 3:
        for x, y in ((x1, y1), (x2, y2)):
            pen.ellipse((x - width / 2, y - width / 2, x + width / 2, y + width / 2), fill=_color(shape))


def _paint_text(pen: ImageDraw.ImageDraw, shape: np.void, factor: float) -> None:
    place = (factor * float(shape["x"]), factor * float(shape["y"]))
    pen.text(place, words(shape), font=_font(round(factor * float(shape["size"]))), fill=_color(shape), anchor="mm")


def text_image(letters: str, size: int, color: str) -> Image.Image:
    """Text on a transparent background, as small as possible and centred like the shape `text`."""
    font = _font(max(1, size))
    left, top, right, bottom = font.getbbox(letters, anchor="mm")
    half = math.ceil(max(-left, right, 1)), math.ceil(max(-top, bottom, 1))
    picture = Image.new("RGBA", (2 * half[0], 2 * half[1]), f"{color}00")
    ImageDraw.Draw(picture).text(half, letters, font=font, fill=color, anchor="mm")
    return picture


@functools.lru_cache(64)
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


PAINTERS = {RECT: _paint_rect, CIRCLE: _paint_circle, LINE: _paint_line, TEXT: _paint_text}


def _svg_shape(shape: np.void) -> str:
    kind, color = int(shape["kind"]), _color(shape)
    x, y, w, h, size = (f"{float(shape[name]):g}" for name in ("x", "y", "w", "h", "size"))
    if kind == RECT:
        middle = f"{float(shape['x']) + float(shape['w']) / 2:g} {float(shape['y']) + float(shape['h']) / 2:g}"
        turn = f' transform="rotate({float(shape["angle"]):g} {middle})"' if float(shape["angle"]) else ""
        return f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="{size}" fill="{color}"{turn}/>'
    if kind == CIRCLE:
        return f'<circle cx="{x}" cy="{y}" r="{w}" fill="{color}"/>'
    if kind == LINE:
        return (
            f'<line x1="{x}" y1="{y}" x2="{w}" y2="{h}" stroke="{color}" stroke-width="{size}" stroke-linecap="round"/>'
        )
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}">{escape(words(shape))}</text>'


def _terminal_line(upper: Array, lower: Array) -> str:
    cells = (
        f"\x1b[38;2;{a[0]};{a[1]};{a[2]}m\x1b[48;2;{b[0]};{b[1]};{b[2]}m▀" for a, b in zip(upper, lower, strict=True)
    )
    return "".join(cells) + "\x1b[0m"
