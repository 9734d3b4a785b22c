/* The results of the reader's own server: a table, which limit binds, and files to keep. */
(function (kvsim) {
  "use strict";

  const KINDS = ["contiguous", "paged"];
  const MEASURES = ["ttft", "tpot", "latency"];
  const PERCENTILES = ["p50", "p90", "p99"];
  const TYPES = { csv: "text/csv", json: "application/json" };

  kvsim.OwnResults = class {
    constructor(words) {
      this.words = words;
      this.place = document.getElementById("own-results");
      this.python = document.getElementById("own-python");
      const notice = document.getElementById("own-kept");
      kvsim.copyOnClick("own-copy", notice, words, "own_python", () => this.python.textContent);
      for (const kind of Object.keys(TYPES)) {
        document.getElementById(`own-${kind}`).addEventListener("click", () => this.save(kind));
      }
    }

    /** Show the results of a status: of the fields that were asked with, and their files' texts. */
    show({ title, position, results }, fields, files) {
      const { words } = this;
      this.files = files;
      this.place.hidden = false;
      this.python.textContent = files.py;
      const limits = ["ttft_s", "tpot_s", "latency_s"]
        .filter((name) => fields[name])
        .map((name) => words.fill(`own_limit_${name}`, { limit: words.seconds(fields[name]) }));
      document.getElementById("own-results-at").textContent = words.fill(
        fields.replay === "own-times" ? "own_results_replayed" : "own_results_at",
        {
          title,
          rate: words.rate(position.rate),
          block_size: words.tokens(position.block_size),
          max_length: words.tokens(position.max_length),
          limits: this.joined(limits) || words.fill("own_no_limits", {}),
        },
      );
      const of = Object.fromEntries(results.map((result) => [result.kind, result]));
      document.querySelector("#own-figures tbody").replaceChildren(
        ...this.rows(of).map(([name, cells]) => {
          const heading = kvsim.made("th", "", name);
          heading.scope = "row";
          return kvsim.made("tr", "", heading, ...cells.map((cell) => kvsim.made("td", "", cell)));
        }),
      );
      document.getElementById("own-binding").replaceChildren(
        ...this.bindingSentences(of).map((sentence) => kvsim.made("li", "", sentence)),
      );
    }

    joined(texts) {
      if (texts.length < 2) return texts.join("");
      const last = texts[texts.length - 1];
      return this.words.fill("own_and", { most: texts.slice(0, -1).join(", "), last });
    }

    rows(of) {
      const { words } = this;
      const perSecond = (number) => words.perSecond(number);
      const said = (key) => words.fill(`own_${key}`, {});
      const row = (name, write) => [name, KINDS.map((kind) => write(of[kind]))];
      const figure = (key, write) => (result) => write(result.figures[key] ?? NaN);
      return [
        ...MEASURES.flatMap((measure) =>
          PERCENTILES.map((percentile) =>
            row(
              words.fill("own_seconds_of", { measure: said(`measure_${measure}`), percentile }),
              figure(`${measure}_${percentile}_s`, (number) => words.significant(number)),
            ),
          ),
        ),
        row(said("completed"), figure("completed_requests_per_s", perSecond)),
        row(said("goodput"), figure("goodput_requests_per_s", perSecond)),
        row(said("preemptions"), figure("preemptions", (number) => words.count(number))),
        row(said("binding"), ({ binding_limit }) =>
          binding_limit ? said(`binding_${binding_limit.name}`) : words.count(NaN),
        ),
      ];
    }

    /** By how much twice of each resource would shorten the wait. */
    bindingSentences(of) {
      const { words } = this;
      if (!KINDS.every((kind) => of[kind].binding_limit)) return [];
      return ["memory", "compute", "bandwidth"].map((resource) => {
        const saved = KINDS.map((kind) => [
          kind,
          words.percent(Math.max(0, of[kind].binding_limit.ttft_saved_share[resource] ?? NaN)),
        ]);
        const called = words.fill(`own_binding_${resource}`, {});
        return words.fill("own_saved", { resource: called, ...Object.fromEntries(saved) });
      });
    }

    save(kind) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([this.files[kind]], { type: TYPES[kind] }));
      link.download = `kvsim-results.${kind}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href));
    }
  };
})((window.kvsim ??= {}));
