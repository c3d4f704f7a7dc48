// Labels of settings and metrics. Names without an entry become words: "learning_rate" is "Learning rate".

const LABELS = {
  approx_kl: "Approximate KL", bptt_length: "BPTT length", clip_coef: "Clip coefficient", clip_range_vf: "Value clip range",
  ema_decay: "EMA decay", ent_coef: "Entropy coefficient", eval_games: "Evaluation games", eval_opponent: "Evaluation opponent",
  gae_lambda: "GAE lambda", gpu_utilization: "GPU utilization, percent", grad_norm: "Gradient norm",
  int_coef: "Intrinsic reward coefficient", int_gamma: "Intrinsic reward gamma", max_grad_norm: "Maximum gradient norm",
  kl_coef: "KL coefficient", kl_target: "KL target for its coefficient", mean_reward: "Mean reward, newest 100 games", memory_used: "Memory used, GB", norm_adv: "Normalize advantages",
  num_envs: "Number of environments", num_minibatches: "Number of minibatches", param_norm: "Parameter norm", rnd_loss: "RND loss",
  target_kl: "Target KL", td_lambda: "TD lambda", upgo: "UPGO", utd_ratio: "Update-to-data ratio", vf_coef: "Value loss coefficient",
};

/** The label of a setting or metric; "episode_return/seat0" is "Episode return, seat0". */
export function label(name) {
  const words = name.replaceAll("_", " ").replaceAll("/", ", ");
  return LABELS[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}
