"""A window to play in: draws the game's shapes; held keys control continuous games, clicks on areas all others.

Arrows or WASD steer, digits choose the first legal moves, the space bar gives your seat to the agent and back, R opens
a new game, Escape quits. The window updates 60 times per second and steps at the game's pace.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from ludus import agents
from ludus.agents.protocol import Memory, Params
from ludus.dsl import PLAYING
from ludus.dsl.draw import AREA, CIRCLE, LINE, RECT
from ludus.evaluation.preparation import interpreted_until_compiled
from ludus.pool import Pool
from ludus.rendering import images
from ludus.types import Array, Continuous, LudusError

if TYPE_CHECKING:
    import pygame

FRAMES_A_SECOND, LIVE, PAUSE = 60, 10.0, 1.5
"""frames per second; pace from which a new game opens automatically after the end, and seconds until it opens"""
SMOOTHING, SMALLEST = 2, 720
"""factor by which pictures are drawn larger and then reduced; minimum width of a window in pixels"""


@dataclass
class Table:
    """A game in a window: its players, and the next action of the person."""

    pool: Pool
    agent: agents.Agent
    params: Params
    memory: Memory
    seat: int
    by_agent: bool = False
    wish: int | Array | None = None
    total: float = 0.0
    moves: int = 0
    waited: float = 0.0
    over_for: float = field(default=0.0)

    @property
    def pace(self) -> float:
        return self.pool.game.pace

    @property
    def is_over(self) -> bool:
        return bool(self.pool.status[0] != PLAYING)

    @property
    def is_mine(self) -> bool:
        """Whether it is the person's turn."""
        turn = self.pool.spec.views > 1 or int(self.pool.step.seat[0]) == self.seat
        return turn and not self.by_agent and not self.is_over


KEYS = "Arrows or WASD steer, digits or clicks play, space lets the agent play, R starts a new game, Escape quits."


def play(name: str, against: str, seat: int, seed: int, tell: Callable[[str], None]) -> None:
    """Open a window and play until it is closed."""
    with interpreted_until_compiled(name) as wait:
        wait(agents.load(against, name), tell)
        table = lay(name, against, seat, seed)
        window = Window(table)
        tell(
            "Arrows or WASD steer, digits or clicks play, space lets the agent play, R starts a new game, Escape quits."
        )
        try:
            while window.turn():
                pass
        finally:
            window.close()
            table.pool.close()


def lay(name: str, against: str, seat: int, seed: int) -> Table:
    """Open the game and load its players."""
    if ":" in name:
        raise LudusError(
            f"{name} is from another library, so it cannot be played in a window; use ludus show to watch it"
        )
    pool = Pool(name, 1, [seed], threads=1)
    if not pool.can_draw:
        raise LudusError(f"{name} draws nothing: its module has no scene")
    if not 0 <= seat < pool.spec.seats:
        raise LudusError(f"{name} has the seats 0 to {pool.spec.seats - 1}; there is no seat {seat}")
    agent = agents.seated(agents.load(against, name), pool)
    return Table(pool, agent, agent.init(pool.spec, seed), agent.memory(pool.spec.views), seat)


def advance(table: Table, seconds: float) -> None:
    """Let time pass; make a step if it is due and the person, if to move, has chosen."""
    table.waited += seconds
    if table.is_over:
        table.over_for += seconds
        if table.over_for >= PAUSE and (table.by_agent or table.pace >= LIVE):
            begin(table)
        return
    if table.waited < 1.0 / table.pace or (table.is_mine and table.wish is None):
        return
    # After a stall, continue from here instead of catching up.
    table.waited = min(table.waited - 1.0 / table.pace, 1.0 / table.pace)
    move(table)


def move(table: Table) -> None:
    """One step of the game by the person, the agent, or both at once."""
    pool, mine = table.pool, table.is_mine
    whole = mine and pool.spec.views == 1
    remembers = not (isinstance(table.memory, tuple) and not table.memory)
    chosen: Array = np.zeros(0)
    if not whole or remembers:
        decision, table.memory = table.agent.act(table.params, table.memory, pool.step, table.moves)
        chosen = np.array(decision.action)
    if mine:
        chosen = np.array([table.wish]) if whole else chosen
        chosen[0 if whole else table.seat] = table.wish
        table.wish = None
    table.moves += 1
    table.total += float(pool.advance(chosen).reward[0, table.seat])


def begin(table: Table) -> None:
    """Open a new game."""
    table.pool.reset(table.moves + int(table.pool.states["key"][0] >> np.uint64(40)))
    table.memory = table.agent.memory(table.pool.spec.views)
    table.wish, table.total, table.waited, table.over_for = None, 0.0, 0.0, 0.0


def steered(table: Table, across: int, down: int) -> int | Array | None:
    """The action of held arrow keys (-1, 0, 1 to the right and downwards), or None."""
    actions = table.pool.spec.actions
    if isinstance(actions, Continuous):
        low, high = np.array(actions.low), np.array(actions.high)
        wish = (low + high) / 2.0
        for place, direction in zip(range(len(low)), (across, -down), strict=False):
            wish[place] += direction * (high[place] - low[place]) / 2.0
        return wish
    way = {(-1, 0): "left", (1, 0): "right", (0, -1): "up", (0, 1): "down"}.get((across, down))
    named = [action for action in legal(table) if way and table.pool.action_name(action) == way]
    return named[0] if named else None


def legal(table: Table) -> list[int]:
    """The person's legal actions."""
    view = table.seat if table.pool.spec.views > 1 else 0
    return [int(action) for action in np.flatnonzero(table.pool.step.mask[view])]


def clicked(table: Table, shapes: Array, x: float, y: float) -> int | None:
    """The legal action of the topmost area under a point, or None."""
    areas = shapes[shapes["kind"] == AREA]
    inside = (areas["x"] <= x) & (x < areas["x"] + areas["w"]) & (areas["y"] <= y) & (y < areas["y"] + areas["h"])
    allowed = set(legal(table))
    return next((int(area["color"]) for area in areas[inside][::-1] if int(area["color"]) in allowed), None)


class Window:
    """The pygame window: screen, keyboard, mouse and clock."""

    def __init__(self, table: Table) -> None:
        self.pygame = _pygame()
        self.table = table
        frame = table.pool.spec.frame
        self.scale = max(1.0, SMALLEST / frame[0])
        self.pygame.display.init()
        self.size = (round(frame[0] * self.scale), round(frame[1] * self.scale))
        self.screen = self.pygame.display.set_mode(self.size)
        self.clock = self.pygame.time.Clock()
        self.painter = Painter(
            self.pygame, (self.size[0] * SMOOTHING, self.size[1] * SMOOTHING), self.scale * SMOOTHING
        )
        self.shapes = table.pool.scene(seat=table.seat)
        self.caption = ""
        self.held: set[int] = set()

    def turn(self) -> bool:
        """One frame: handle events, step, draw; returns False when the window should close."""
        seconds = self.clock.tick(FRAMES_A_SECOND) / 1000.0
        for event in self.pygame.event.get():
            if event.type == self.pygame.QUIT or not self.handle(event):
                return False
        self.steer()
        before = self.table.moves, self.table.pool.states["key"][0]
        advance(self.table, seconds)
        if (self.table.moves, self.table.pool.states["key"][0]) != before or not self.caption:
            self.shapes = self.table.pool.scene(seat=self.table.seat)
            self.show()
        self.update_caption()
        return True

    def handle(self, event: pygame.event.Event) -> bool:
        """Handle a key or click; returns False for Escape."""
        keys, table = self.pygame, self.table
        if event.type == keys.MOUSEBUTTONDOWN and event.button == 1 and table.is_mine:
            table.wish = clicked(table, self.shapes, event.pos[0] / self.scale, event.pos[1] / self.scale)
        if event.type == keys.KEYUP:
            self.held.discard(event.key)
        elif event.type == keys.WINDOWFOCUSLOST:
            self.held.clear()
        if event.type != keys.KEYDOWN:
            return True
        self.held.add(event.key)
        if event.key == keys.K_SPACE:
            table.by_agent, table.wish = not table.by_agent, None
        elif event.key == keys.K_r:
            begin(table)
            self.caption = ""
        elif keys.K_1 <= event.key <= keys.K_9 and table.is_mine and not self.continuous:
            table.wish = next(iter(legal(table)[event.key - keys.K_1 :]), None)
        return bool(event.key != keys.K_ESCAPE)

    @property
    def continuous(self) -> bool:
        return isinstance(self.table.pool.spec.actions, Continuous)

    def steer(self) -> None:
        """Set the next action from the keys that are held down."""
        held, keys, table = self.held, self.pygame, self.table
        if not table.is_mine or (table.wish is not None and not self.continuous):
            return
        left, right, up, down = (
            bool(held & pair)
            for pair in (
                {keys.K_LEFT, keys.K_a},
                {keys.K_RIGHT, keys.K_d},
                {keys.K_UP, keys.K_w},
                {keys.K_DOWN, keys.K_s},
            )
        )
        table.wish = steered(table, right - left, down - up)

    def show(self) -> None:
        large = self.painter.paint(self.shapes)
        self.pygame.transform.smoothscale(large, self.size, self.screen)
        self.pygame.display.flip()

    def update_caption(self) -> None:
        """Show who plays and the return so far in the title of the window."""
        table = self.table
        state = "over; R starts a new game" if table.is_over else "the agent plays" if table.by_agent else "you play"
        caption = f"{table.pool.game.title}: {state}, {table.total:.2f}"
        if caption != self.caption:
            self.pygame.display.set_caption(caption)
            self.caption = caption

    def close(self) -> None:
        self.pygame.display.quit()


class Painter:
    """Paints shapes on a surface; shapes that do not change between frames are painted once."""

    def __init__(self, module: ModuleType, size: tuple[int, int], factor: float) -> None:
        self.pygame, self.factor = module, factor
        self.surface, self.backdrop = module.Surface(size), module.Surface(size)
        self.still = np.zeros((0, 1), np.uint8)
        self.last = self.still

    def paint(self, shapes: Array) -> pygame.Surface:
        """The surface with these shapes on it."""
        rows = np.ascontiguousarray(shapes).view(np.uint8).reshape(len(shapes), -1)
        same = _leading(rows, self.last)
        self.last = rows
        start = len(self.still)
        if same < start:
            start = 0
            self.backdrop.fill(0)
        self._paint(self.backdrop, shapes[start:same])
        self.still = rows[:same]
        self.surface.blit(self.backdrop, (0, 0))
        self._paint(self.surface, shapes[same:])
        return self.surface

    def _paint(self, surface: pygame.Surface, shapes: Array) -> None:
        for shape in images.visible(shapes):
            kind, color = int(shape["kind"]), f"#{int(shape['color']):06x}"
            x, y, w, h, size = (self.factor * float(shape[name]) for name in ("x", "y", "w", "h", "size"))
            if kind == RECT and float(shape["angle"]):
                self.pygame.draw.polygon(surface, color, images.corners(shape, self.factor))
            elif kind == RECT:
                self.pygame.draw.rect(surface, color, (x, y, w, h), border_radius=round(size))
            elif kind == CIRCLE:
                self.pygame.draw.circle(surface, color, (x, y), w)
            elif kind == LINE:
                self._line(surface, color, (x, y), (w, h), size)
            else:
                picture = _letters(self.pygame, images.words(shape), round(size), color)
                surface.blit(picture, picture.get_rect(center=(x, y)))

    def _line(
        self, surface: pygame.Surface, color: str, start: tuple[float, float], end: tuple[float, float], width: float
    ) -> None:
        """Draw a line with round ends; thick lines of pygame have slanted ends."""
        across = np.array([end[1] - start[1], start[0] - end[0]])
        length = float(np.hypot(*across))
        if length:
            side = across / length * width / 2.0
            self.pygame.draw.polygon(
                surface,
                color,
                [np.array(start) + side, np.array(end) + side, np.array(end) - side, np.array(start) - side],
            )
        for point in (start, end):
            self.pygame.draw.circle(surface, color, point, max(1.0, width / 2.0))


def _leading(rows: Array, others: Array) -> int:
    """The number of equal rows at the start."""
    count = min(len(rows), len(others))
    same = (rows[:count] == others[:count]).all(axis=1) if count else np.zeros(0, bool)
    return int(count if same.all() else same.argmin())


@functools.lru_cache(512)
def _letters(module: ModuleType, words: str, size: int, color: str) -> pygame.Surface:
    """A text in the same font as in picture files."""
    picture = images.text_image(words, size, color)
    letters: pygame.Surface = module.image.frombytes(picture.tobytes(), picture.size, "RGBA")
    return letters


def _pygame() -> ModuleType:
    """Import pygame, without its greeting; raises LudusError if it is not installed."""
    import os

    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ImportError:
        raise LudusError("a window needs pygame: pip install 'ludus[window]'; or play in the terminal") from None
    return pygame
