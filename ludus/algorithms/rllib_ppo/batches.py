"""A configuration of RLlib's PPO whose batches may be larger than wanted by more than a tenth."""

from __future__ import annotations

from ray.rllib.algorithms.ppo import PPOConfig


class AnyBatchConfig(PPOConfig):
    """RLlib's configuration, which also accepts 4,000 decisions from env runners that make 1,600 at once.

    RLlib collects until there are enough, here 4,800, but refuses such a configuration.
    """

    def validate_train_batch_size_vs_rollout_fragment_length(self) -> None:
        """Any size is accepted."""
