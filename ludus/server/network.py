"""Decisions of networks, compiled ahead of time for a few numbers of rows and a few lengths of padded sets.

Parameters stay on the device, and projections of ids are computed once. What has been cut off does not change answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Protocol

import jax
import numpy as np

from ludus.agents.neural import devices
from ludus.agents.neural.agent import DeepAgent, Judged, NetworkStep, judge
from ludus.agents.neural.networks import reads
from ludus.agents.neural.networks.layout import Layout, blank, cut_to, used
from ludus.agents.neural.networks.recurrent import RNNAgent, folded
from ludus.agents.protocol import Memory, Params
from ludus.server.deciders import Inputs, Outputs, Tell, sizes_up_to
from ludus.types import Array

SHORT, MEDIUM, PAST, CHOICES = 48, 80, 16, 8
"""lengths of sets besides their full one: entities (two), past actions, and possible actions. They are few, because
each combination is compiled for every number of rows."""
Lengths = Mapping[str, int]


class Program(Protocol):
    """A compiled decision for one shape of inputs."""

    def __call__(self, params: Params, memory: Memory, step: NetworkStep, seeds: Array, /) -> Judged: ...


class NetworkDecider:
    """A deep agent that decides greedily, or with `sample` at random by the seed of each row."""

    def __init__(self, agent: DeepAgent, params: Params, sample: bool, most: int) -> None:
        devices.start()
        self.sizes, self.most = sizes_up_to(most), most
        self._agent = replace(agent, greedy=not sample)
        if isinstance(agent.network, RNNAgent):
            params = folded(agent.network, params)
        self._params = jax.device_put(params)
        self._levels = levels_of(self._agent)
        self._programs: dict[tuple[int, int], Program] = {}

    def decide(self, inputs: Inputs) -> Outputs:
        """Decide for these rows; their number must be one of `sizes`."""
        level, shown = self._shown(inputs)
        step = NetworkStep(shown, inputs.mask, inputs.seat, inputs.first)  # type: ignore[arg-type]
        program = self._programs[len(inputs.seat), level]
        judged = program(self._params, inputs.memory, step, inputs.seeds)
        action, probabilities, value = map(np.asarray, judged[:3])
        return Outputs(action, probabilities, value, judged.memory)

    def warm(self, blank: Callable[[int], Inputs], tell: Tell) -> None:
        """Compile all shapes of inputs."""
        total = len(self.sizes) * len(self._levels)
        for size in self.sizes:
            for level in range(len(self._levels)):
                tell("compiling", len(self._programs), total)
                self._programs[size, level] = self._compile(blank(size), self._levels[level])

    def _compile(self, inputs: Inputs, lengths: Lengths) -> Program:
        shown = shown_at(self._agent, inputs.observation, lengths)
        step = NetworkStep(shown, inputs.mask, inputs.seat, inputs.first)  # type: ignore[arg-type]
        program = jax.jit(partial(judge, self._agent))
        compiled: Program = program.lower(self._params, inputs.memory, step, inputs.seeds).compile()
        compiled(self._params, inputs.memory, step, inputs.seeds)
        return compiled

    def _shown(self, inputs: Inputs) -> tuple[int, Mapping[str, Array]]:
        """The shortest of the compiled inputs that shows everything in these rows, and its number."""
        network, observation = self._agent.network, inputs.observation
        if len(self._levels) == 1:
            return 0, shown_at(self._agent, observation, self._levels[0])
        if not reads(network):
            level = self._level(used(network.layout, observation, inputs.mask))
            return level, cut_to(network.layout, observation, self._levels[level])
        chosen = 0

        def agree(lengths: dict[str, int]) -> dict[str, int]:
            nonlocal chosen
            chosen = self._level(lengths)
            return dict(self._levels[chosen])

        shown = network.read(observation, agree)  # sets `chosen`
        return chosen, shown

    def _level(self, lengths: Lengths) -> int:
        fitting = (all(length <= level[name] for name, length in lengths.items()) for level in self._levels)
        return next((number for number, fits in enumerate(fitting) if fits), len(self._levels) - 1)


def shown_at(agent: DeepAgent, observation: Mapping[str, Array], lengths: Lengths) -> Mapping[str, Array]:
    """The input of the network with its sets cut to these lengths."""
    if reads(agent.network):
        return agent.network.read(observation, lambda _: dict(lengths))
    return cut_to(agent.network.layout, observation, lengths) if lengths else observation


def levels_of(agent: DeepAgent) -> tuple[Lengths, ...]:
    """The lengths that are compiled, from the shortest to the full ones; one, if nothing can be cut off."""
    if reads(agent.network):
        zeros = blank(agent.network.layout, 1)
        found = [_lengths_of(agent, zeros), _lengths_of(agent, {name: zeros[name] + 1 for name in zeros})]
    elif agent.packs:
        layout = agent.network.layout
        found = [_cut(layout, *sizes) for sizes in ((SHORT, PAST, CHOICES), (MEDIUM, 2**31, 2**31), (2**31,) * 3)]
    else:
        found = [{}]
    return tuple(lengths for place, lengths in enumerate(found) if lengths not in found[:place])


def _lengths_of(agent: DeepAgent, observation: Mapping[str, Array]) -> Lengths:
    """The lengths that a network with its own features wants for an observation."""
    wanted: dict[str, int] = {}

    def agree(lengths: dict[str, int]) -> dict[str, int]:
        wanted.update(lengths)
        return lengths

    assert reads(agent.network)
    agent.network.read(observation, agree)
    return wanted


def _cut(layout: Layout, entities: int, past: int, choices: int) -> Lengths:
    longest = {part.name: min(part.count, entities) for part in layout.entities if part.padding >= 0}
    for part, length in ((layout.history, past), (layout.actions, choices)):
        if part is not None and part.padding >= 0:
            longest[part.name] = min(part.count, length)
    return longest
