/* What an atlas was computed with, in words; app/words.py writes the same ones for the plate's. */
(function (kvsim) {
  "use strict";

  kvsim.constantWords = function (words, constants, axes) {
    const [low, high] = constants.band;
    const most = Math.max(...axes.rate);
    const share = (value) => words.fill("percent", { count: words.count(100 * value) });
    return {
      model: constants.model,
      gpu: constants.gpu,
      cache_gb: words.significant(constants.cache_bytes / 1e9),
      kv_bytes_per_token: words.count(constants.kv_bytes_per_token),
      capacity_tokens: words.count(constants.capacity_tokens),
      mean_prompt: words.count(constants.mean_prompt_tokens),
      mean_output: words.count(constants.mean_output_tokens),
      peak_tflops: words.count(constants.peak_flops / 1e12),
      peak_tbs: words.fixed(constants.peak_bandwidth / 1e12, 2),
      compute_share: share(constants.compute_share),
      bandwidth_share: share(constants.bandwidth_share),
      overhead_ms: words.fixed(constants.pass_overhead_s * 1e3, 1),
      block_overhead_tokens: words.fixed(Math.max(...axes.block_overhead), 1),
      most_rate: most % 1 ? words.plain(most) : words.count(most),
      replications: words.count(constants.replications),
      arrivals_s: words.count(constants.duration_s),
      band: words.fill("quantiles", { low: words.count(100 * low), high: words.count(100 * high) }),
      seed: String(constants.seed),
    };
  };
})((window.kvsim ??= {}));
