"""The training loop and what a run is made of: settings, folders, checkpoints, scores, loggers.

Called as a function, this module is the generator `ludus.training(...)`, see `ludus.training.api`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    """The name `ludus.training` is this package, so the public function of that name has to be its call."""

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        from ludus.training.api import training

        return training(*arguments, **settings)


sys.modules[__name__].__class__ = _CallableModule
