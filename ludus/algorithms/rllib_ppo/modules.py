"""The networks in PyTorch, as RLModules. Each has a twin in Flax with the same weights and the same outputs.

`BalatroNet` is the twin of the network `balatro_encoders`, `GeneralNet` of `MLPAgent`. `flax_arrays` and
`torch_tensors` convert between the names and shapes of both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.distribution.torch.torch_distribution import TorchCategorical, TorchDiagGaussian
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
from torch import Tensor, nn

from ludus.agents.neural.networks.settings import LOG_DEVIATIONS
from ludus.types import Array

ILLEGAL = -1e9
"""logit of illegal actions"""
ACTIVATIONS = {"tanh": torch.tanh, "relu": torch.relu, "silu": nn.functional.silu, "gelu": nn.functional.gelu}
Batch = dict[str, Any]


class BalatroNet(TorchRLModule, ValueFunctionAPI):
    """Encoders of 52 cards and 150 jokers, shared layers, and heads for the policy and the value."""

    FLAX = {  # noqa: RUF012
        "card_encoder.0": "cards_0", "card_encoder.2": "cards_1", "joker_encoder.0": "jokers_0",
        "joker_encoder.2": "jokers_1", "shared_layers.0": "shared_0", "shared_layers.2": "shared_1",
        "policy_head": "policy", "value_head": "value",
    }  # fmt: skip
    """layers of the twin"""

    def setup(self) -> None:
        self.action_dist_cls = TorchCategorical
        observations: Any = self.observation_space
        actions: Any = self.action_space
        embedding = observations["memgraph_embedding"].shape[0]
        self.card_encoder = nn.Sequential(nn.Linear(52 * 4, 256), nn.ReLU(), nn.Linear(256, 128))
        self.joker_encoder = nn.Sequential(nn.Linear(150 * 8, 512), nn.ReLU(), nn.Linear(512, 256))
        self.shared_layers = nn.Sequential(
            nn.Linear(128 + 256 + embedding, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU()
        )
        self.policy_head = nn.Linear(512, int(actions.n))
        self.value_head = nn.Linear(512, 1)

    def _forward(self, batch: Batch, **kwargs: object) -> Batch:
        observation = batch[Columns.OBS]
        hidden = self._hidden(observation)
        logits = masked(self.policy_head(hidden), observation["action_mask"])
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: hidden}

    def _forward_exploration(self, batch: Batch, **kwargs: object) -> Batch:
        with torch.profiler.record_function("ludus:act"), torch.no_grad():
            return self._forward(batch)

    def compute_values(self, batch: Batch, embeddings: Tensor | None = None) -> Tensor:
        """[B] values."""
        hidden = self._hidden(batch[Columns.OBS]) if embeddings is None else embeddings
        return self.value_head(hidden)[:, 0]

    def _hidden(self, observation: Mapping[str, Tensor]) -> Tensor:
        cards = self.card_encoder(observation["cards"].flatten(1))
        jokers = self.joker_encoder(observation["jokers"].flatten(1))
        return self.shared_layers(torch.cat([cards, jokers, observation["memgraph_embedding"]], dim=1))

    def flax_name(self, layer: str) -> str:
        """The name of a layer of the twin."""
        return self.FLAX[layer]


class GeneralNet(TorchRLModule, ValueFunctionAPI):
    """A plain network for any game, on the arrays of `features.FlatFeatures`; its sizes are in `model_config`."""

    def setup(self) -> None:
        settings: Any = self.model_config
        observation_space: Any = self.observation_space
        action_space: Any = self.action_space
        self.bend, self.depth = ACTIVATIONS[settings["activation"]], int(settings["depth"])
        self.tables = [(str(name), int(rows), int(places)) for name, rows, places in settings["tables"]]
        self.towers = ("actor",) if settings["shared"] else ("actor", "critic")
        self.discrete = hasattr(action_space, "n")
        self.action_dist_cls = TorchCategorical if self.discrete else TorchDiagGaussian
        width, features = int(settings["width"]), observation_space["features"].shape[0]
        layers: dict[str, nn.Module] = {}
        for tower in self.towers:
            layers[f"{tower}_0/dense"] = nn.Linear(features, width)
            layers |= {f"{tower}_{layer}": nn.Linear(width, width) for layer in range(1, self.depth)}
        actions = int(action_space.n) if self.discrete else action_space.shape[0]
        layers["policy" if self.discrete else "policy/Dense_0"] = nn.Linear(width, actions)
        layers["value"] = nn.Linear(width, int(settings["values"]))
        self.layers = nn.ModuleDict(layers)
        self.others = nn.ParameterDict()
        if not self.discrete:
            self.others["policy/log_deviation"] = nn.Parameter(torch.zeros(actions))
        for tower in self.towers:
            for name, rows, _ in self.tables:
                self.others[f"{tower}_0/{name}_table"] = nn.Parameter(torch.zeros(rows, width))

    def _forward(self, batch: Batch, **kwargs: object) -> Batch:
        observation = batch[Columns.OBS]
        hidden = self._tower(observation, "actor")
        logits = self._policy(hidden, observation)
        return {Columns.ACTION_DIST_INPUTS: logits} | ({Columns.EMBEDDINGS: hidden} if len(self.towers) == 1 else {})

    def _forward_exploration(self, batch: Batch, **kwargs: object) -> Batch:
        with torch.profiler.record_function("ludus:act"), torch.no_grad():
            return self._forward(batch)

    def compute_values(self, batch: Batch, embeddings: Tensor | None = None) -> Tensor:
        """[B] values for the player to move."""
        hidden = self._tower(batch[Columns.OBS], self.towers[-1]) if embeddings is None else embeddings
        return self.layers["value"](hidden)[:, 0]

    def _tower(self, observation: Mapping[str, Tensor], tower: str) -> Tensor:
        """The layers before a head: [B, width]."""
        hidden, at = self.layers[f"{tower}_0/dense"](observation["features"]), 0
        for name, _, places in self.tables:
            indices = observation["indices"][:, at : at + places].long()
            hidden, at = hidden + self.others[f"{tower}_0/{name}_table"][indices].sum(dim=1), at + places
        hidden = self.bend(hidden)
        for layer in range(1, self.depth):
            hidden = self.bend(self.layers[f"{tower}_{layer}"](hidden))
        return hidden

    def _policy(self, hidden: Tensor, observation: Mapping[str, Tensor]) -> Tensor:
        """Logits, or mean and log deviation."""
        if self.discrete:
            return masked(self.layers["policy"](hidden), observation["action_mask"])
        mean = self.layers["policy/Dense_0"](hidden)
        deviation = self.others["policy/log_deviation"].clamp(*LOG_DEVIATIONS)
        return torch.cat([mean, deviation.expand_as(mean)], dim=1)

    def flax_name(self, layer: str) -> str:
        """The name of a layer of the twin."""
        return layer.removeprefix("layers.").removeprefix("others.")


def masked(logits: Tensor, mask: Tensor) -> Tensor:
    """Logits [B, A], ILLEGAL for illegal actions."""
    return torch.where(mask > 0, logits, torch.full_like(logits, ILLEGAL))


AnyNet = BalatroNet | GeneralNet


def flax_path(module: AnyNet, name: str) -> tuple[str, bool]:
    """The path in the twin's variables of a parameter, and whether it is transposed there."""
    layer, _, kind = name.rpartition(".")
    if layer == "others":
        return f"params/{module.flax_name(name)}", False
    return f"params/{module.flax_name(layer)}/{'kernel' if kind == 'weight' else kind}", kind == "weight"


def flax_arrays(module: AnyNet, tensors: Mapping[str, Any]) -> dict[str, Array]:
    """Tensors by the names of the module's parameters, as arrays by the paths of its twin's variables."""
    found = {}
    for name, tensor in tensors.items():
        path, turned = flax_path(module, name)
        array = np.asarray(tensor.detach().cpu() if isinstance(tensor, Tensor) else tensor, np.float32)
        found[path] = np.array(array.T if turned else array, order="C")
    return dict(sorted(found.items(), key=lambda item: item[0].split("/")))  # in the order of Flax


def torch_tensors(module: AnyNet, arrays: Mapping[str, Array]) -> dict[str, Tensor]:
    """The inverse of `flax_arrays`, for all parameters of the module."""
    found = {}
    for name, _ in module.named_parameters():
        path, turned = flax_path(module, name)
        array = np.asarray(arrays[path], np.float32)
        found[name] = torch.from_numpy(np.array(array.T if turned else array, order="C"))
    return found


def parameter_count(module: AnyNet) -> int:
    """The number of trainable parameters."""
    return sum(math.prod(parameter.shape) for parameter in module.parameters())
