"""RLlib's configuration of a run: its environments, its module and the settings of PPO."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from torch.profiler import record_function

from ludus.algorithms.rllib_ppo.batches import AnyBatchConfig
from ludus.algorithms.rllib_ppo.environments import BALATRO, GameVectorEnv, SelfPlayEnv, features_of, view_of
from ludus.algorithms.rllib_ppo.modules import BalatroNet, GeneralNet
from ludus.pool import Pool
from ludus.types import Spec

if TYPE_CHECKING:
    from ludus.algorithms.rllib_ppo import RLlibPPO

SHARED = "shared"
"""the one policy of all seats"""


class AnnotatedLearner(PPOTorchLearner):
    """RLlib's learner; its updates are marked for PyTorch's profiler."""

    def update(self, *args: Any, **kwargs: Any) -> Any:
        with record_function("ludus:update"):
            return super().update(*args, **kwargs)


def config_of(settings: RLlibPPO, game: str, num_envs: int, seed: int) -> PPOConfig:
    """The configuration with these settings."""
    pool = Pool(game, 1, threads=1)
    try:
        spec, module = pool.spec, module_of(settings, pool)
    finally:
        pool.close()
    config = AnyBatchConfig()  # type: ignore[no-untyped-call]
    config.environment(
        GameVectorEnv if spec.seats == 1 else SelfPlayEnv, normalize_actions=False, clip_actions=False,
        env_config={"game": game, "network": settings.mlp.network}, disable_env_checking=True,
    )  # fmt: skip
    config.env_runners(
        num_env_runners=settings.num_env_runners, num_envs_per_env_runner=num_envs,
        num_cpus_per_env_runner=settings.cpus_per_env_runner,  # type: ignore[arg-type]
        rollout_fragment_length=settings.rollout_length,
        gym_env_vectorize_mode="vector_entry_point" if spec.seats == 1 else "sync",
    )  # fmt: skip
    config.training(
        train_batch_size_per_learner=settings.train_batch_size, minibatch_size=settings.minibatch_size,
        num_epochs=settings.update_epochs, lr=settings.learning_rate, gamma=settings.gamma,
        lambda_=settings.gae_lambda, entropy_coeff=settings.ent_coef, clip_param=settings.clip_coef,
        vf_clip_param=settings.vf_clip_param, vf_loss_coeff=settings.vf_coef, grad_clip=settings.max_grad_norm,
        grad_clip_by="global_norm", use_kl_loss=settings.kl_coef > 0.0, kl_coeff=settings.kl_coef,
        kl_target=settings.kl_target, learner_class=AnnotatedLearner,
    )  # fmt: skip
    config.learners(num_learners=0, num_gpus_per_learner=settings.num_gpus)
    if spec.seats == 1:
        config.rl_module(rl_module_spec=module)
    else:
        config.rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={SHARED: module}))
        config.multi_agent(policies={SHARED}, policy_mapping_fn=lambda agent, episode, **kwargs: SHARED)
    config.reporting(min_time_s_per_iteration=0)
    config.debugging(seed=seed % 2**31, log_level="ERROR")
    return config


def module_of(settings: RLlibPPO, pool: Pool) -> RLModuleSpec:
    """The module for the games of a pool."""
    view = view_of(pool, settings.mlp.network)
    kind: type[Any] = BalatroNet
    sizes: dict[str, Any] = {"values": value_columns(pool.spec)}
    if settings.mlp.network != BALATRO:
        kind, args = GeneralNet, settings.mlp
        sizes |= {"width": args.width, "depth": args.depth, "activation": args.activation, "shared": args.shared}
        sizes["tables"] = [list(table) for table in features_of(pool).tables]
    return RLModuleSpec(
        module_class=kind, observation_space=view.observation_space, action_space=view.action_space, model_config=sizes
    )


def value_columns(spec: Spec) -> int:
    """The number of value outputs of the Flax twin; the first is learned, for the player to move."""
    return 1 if spec.seats == 1 or (spec.seats == 2 and spec.zero_sum) else spec.seats


def built(config: PPOConfig) -> Any:
    """The algorithm of a configuration."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return config.build_algo()
