"""The settings of a run as keywords of `ludus.train`, so that editors complete and check them.

The dataclasses of the algorithms define the settings; a test compares the names. `network` is an argument of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypedDict


class Settings(TypedDict, total=False):
    """Settings of all algorithms and runtimes; each accepts its own. An unknown one is an error with a suggestion."""

    num_envs: int
    """games that each worker plays at once; 1 or more"""
    seed: int
    """random seed; the same seed and settings give the same result"""
    runtime: str
    """where workers run: local (in this thread), threads, processes, mpi (ranks of mpiexec), mpi_server, ray"""
    workers: int
    """number of workers; 0 for one per core or rank with tables, and one with networks"""
    chunk: int
    """decisions of a worker between two merges of tables; 0 for a million, or thousands if Python steps the games"""
    evaluations: int
    """evaluations in the whole run; 0 or more"""
    eval_games: int
    """games per evaluation; 1 or more"""
    eval_opponent: str
    """opponent in evaluations of games with several seats: random, greedy or a run; it selects the best checkpoint"""
    checkpoint_seconds: float
    """seconds between checkpoints; 0 or more"""
    keep_checkpoints: int
    """newest checkpoints that are kept, besides the best; 1 or more"""
    log: tuple[str, ...]
    """loggers besides metrics.jsonl"""
    address: str
    """Ray cluster: auto, host:port or ray://host:10001; empty to start Ray on this machine for the run"""
    cpus_per_worker: float
    """CPUs that Ray reserves for each worker; above 0, also fractions"""
    spread: bool
    """place workers on as many nodes as possible, instead of filling one node after the other"""
    learners: int
    """learners that compute updates together, each in its own process; 1 or more"""
    gpus_per_learner: float
    """GPUs that Ray reserves for each of several learners; 0 or more"""
    object_store_memory: int
    """bytes of the object store of the Ray that the run starts; 0 for Ray's choice"""
    memory: int
    """bytes of memory that actors may reserve in the Ray that the run starts; 0 for Ray's choice"""
    spill_folder: str
    """folder for objects beyond the object store of the Ray that the run starts; empty for Ray's choice"""
    form: Literal["compiled", "numpy", "list"]
    """implementation of Q-learning; list and numpy are slow and meant to be read and compared"""
    policy: str
    """exploration policy: epsilon_greedy, boltzmann or ucb"""
    learning_rate: float | str
    """α: a number, or a schedule over steps such as linear(0.5, 0.01, 1000000) or exponential(0.5, 0.01, 1e-6)"""
    exploration: float | str
    """ε of epsilon_greedy, temperature of boltzmann or coefficient of ucb; a number or a schedule over steps"""
    gamma: float
    """γ: discount factor per step; 0 to 1"""
    trace_decay: float
    """λ: decay of eligibility traces per step, for sarsa_lambda and q_lambda; 0 to 1"""
    n_steps: int
    """n of n_step: steps before a return is bootstrapped; 1 to 64"""
    planning_steps: int
    """simulated steps per real step, for dyna_q and prioritized_sweeping; 0 or more"""
    priority_threshold: float
    """θ of prioritized_sweeping: smaller errors are not queued; above 0"""
    tables: Literal["shared", "seat"]
    """one table for all seats, or one for each seat"""
    tolerance: float
    """planning ends when no value changes by more than this; above 0"""
    agent: Literal["mlp", "rnn"]
    """network: a plain MLP, or an encoder with a transformer and a memory"""
    mlp: Mapping[str, object]
    """settings of the network with agent=mlp"""
    model: Mapping[str, object]
    """settings of the network with agent=rnn"""
    bfloat16: bool
    """compute in bfloat16; parameters and losses stay in float32"""
    rollout_length: int
    """steps per row in one rollout; 1 or more"""
    update_epochs: int
    """passes over each rollout; 1 or more"""
    num_minibatches: int
    """minibatches per epoch; a minibatch consists of whole rows; 1 or more"""
    gradient_accumulation: int
    """parts of a minibatch that are computed one after the other, for the same gradient in less memory; 1 or more"""
    max_grad_norm: float
    """gradients are clipped to this global norm; above 0"""
    gae_lambda: float
    """λ of generalised advantage estimation and of V-trace; 0 to 1"""
    own_turns_only: bool
    """compute advantages from one own decision to the next, and train the critic only on these; for fixed opponents"""
    advantage_estimator: Literal["gae", "vtrace"]
    """gae, or vtrace, which corrects for rollouts of older parameters by importance weights"""
    refresh_rollouts: bool
    """recompute log-probabilities and values of a rollout with the newest parameters before the update"""
    recompute_advantages: bool
    """recompute advantages with the newest parameters in every minibatch; always on with vtrace"""
    rho_clip: float
    """ρ̄ of V-trace: clips the importance weights of the targets; above 0"""
    c_clip: float
    """c̄ of V-trace: clips the importance weights of the traces; above 0"""
    upgo: bool
    """add the upgoing advantage (UPGO) to the advantage"""
    norm_adv: bool
    """normalise advantages to mean 0 and standard deviation 1"""
    clip_coef: float
    """ε: clipping range of the probability ratio; above 0"""
    dual_clip: float
    """c of dual-clip PPO, which bounds the loss of decisions with negative advantage; above 1, or 0 for off"""
    vf_coef: float
    """coefficient of the value loss; 0 or more"""
    clip_range_vf: float
    """clipping range of value predictions in one update; above 0, or 0 for off"""
    ent_coef: float | str
    """coefficient of the entropy bonus; a number or a schedule over steps"""
    target_kl: float
    """skip the rest of an update when the approximate KL divergence exceeds this; above 0, or 0 for off"""
    kl_coef: float
    """coefficient of a penalty on the KL divergence, before the first update; each update adapts it; 0 for off"""
    kl_target: float
    """divergence aimed at by kl_coef: it grows by half if twice this is exceeded, and halves below half; above 0"""
    burn_in: int
    """first steps of each sequence that only warm up the memory; 0 to rollout_length - 1"""
    bptt_length: int
    """steps after which backpropagation through the memory is truncated; 1 or more, or 0 for the whole rollout"""
    int_coef: float
    """coefficient of intrinsic rewards for novel observations (random network distillation); above 0, or 0 for off"""
    int_gamma: float
    """discount factor of intrinsic rewards per step; 0 to 1"""
    update_proportion: float
    """fraction of the steps that the predictor of random network distillation is trained on; 0 to 1"""
    devices: int
    """devices that compute updates in each process; 1 or more, or 0 for all: every GPU, or every core"""
    actor_devices: int
    """devices of each process, counted from the first, that only collect rollouts; 0 to share those of the updates"""
    opponents: tuple[str, ...]
    """players in the other seats, with weights: self:0.7 past:0.2 random:0.1; also perfect, scripted or a run"""
    snapshot_interval: int
    """updates between two snapshots of the agent for the opponent "past"; 1 or more"""
    max_snapshots: int
    """newest snapshots that are kept for the opponent "past"; 1 or more"""
    num_env_runners: int
    """processes that play, with num_envs games each; 0 to play in the process that learns"""
    cpus_per_env_runner: float
    """CPUs that Ray reserves for each env runner; above 0, also fractions"""
    num_gpus: float
    """GPUs of the learner; 0 or more"""
    train_batch_size: int
    """decisions that an update learns from, at least; 1 or more"""
    minibatch_size: int
    """decisions per gradient step; 1 to train_batch_size"""
    vf_clip_param: float
    """upper limit of the squared error of a value; above 0"""
    planner: Mapping[str, object]
    """settings of the MPPI planner"""
    replay_size: int
    """capacity of the replay buffer in steps over all rows; 1 or more"""
    learning_starts: int
    """steps with noisy actions before the first gradient step; 0 or more"""
    utd_ratio: float
    """update-to-data ratio: gradient steps per environment step; above 0"""
    batch_size: int
    """sequences per gradient step; 1 or more"""
    mirror: bool
    """mirror each sampled sequence with probability 1/2, in games that declare a mirror symmetry"""
    horizon: int
    """length of a sampled sequence in steps, predicted from its first observation; 1 to rollout_length"""
    imag_horizon: int
    """imagined steps that the actor is trained on; 1 or more"""
    terminal_oversampling: float | str
    """extra sampling weight of sequences with a terminal step, besides 1; a number from 0 or a schedule over steps"""
    td_lambda: float
    """λ of the TD(λ) targets of the critics: 0 for one-step targets; 0 to 1"""
    reward_scale: float
    """factor on rewards before learning, best chosen so that values are about 1 to 100; above 0"""
    rho: float
    """ρ: weight of the losses of a predicted step relative to the step before it; 0 to 1"""
    imag_action_noise: float
    """std of the noise on the actor's actions (range -1..1) in imagined steps and critic targets; 0 or more"""
    action_penalty: float
    """coefficient of the squared actor output before tanh, which prevents saturated actions; 0 or more"""
    ema_decay: float
    """EMA decay per gradient step of the evaluation parameters; 0 to 1, where 0 keeps the newest"""
    target_ema_decay: float
    """EMA decay per gradient step of the target critics (1 - tau); 0 to 1"""
    consistency_coef: float
    """coefficient of the latent consistency loss; 0 or more"""
    reward_coef: float
    """coefficient of the reward loss and of the continue loss; 0 or more"""
    reconstruction_coef: float
    """coefficient of the observation reconstruction loss; 0 or more"""
    value_coef: float
    """coefficient of the critic loss; 0 or more"""
    exploration_noise: float | str
    """std of the noise on actions (range -1..1) in training; a number from 0 or a schedule over steps"""
    noise_correlation: float
    """correlation of the exploration noise of two consecutive steps; 0 (independent) to 1 (constant)"""
    planning_fraction: float | str
    """fraction of training decisions that are planned, the others are the actor's; 0 to 1 or a schedule over steps"""
    plan_at_evaluation: bool
    """plan when evaluating and playing, instead of following the actor"""
