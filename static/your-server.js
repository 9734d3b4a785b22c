/* The reader's own server: joins its forms, what the server answers of them, and the workshop. */
(function (kvsim) {
  "use strict";

  const PAUSE_MS = 300;
  const GIB = 2 ** 30;

  kvsim.YourServer = class {
    constructor(page, words, controls, whose) {
      this.words = words;
      this.controls = controls;
      this.whose = whose;
      this.gone = document.getElementById("own-gone");
      this.asking = new kvsim.Asking(page.files.answers);
      if (!this.asking.possible) {
        document.getElementById("own-asks").hidden = true;
        this.gone.textContent = words.fill("own_none", {});
        return;
      }
      this.server = new kvsim.ServerForm(words);
      this.workload = new kvsim.WorkloadInput(this.asking, words);
      this.log = new kvsim.LogInput(this.asking, words, page.own.log_names);
      this.computing = new kvsim.Computing(this.asking, words);
      this.results = new kvsim.OwnResults(words);
      this.goals = document.getElementById("own-compute-part");
      this.capacity = document.getElementById("own-capacity");
      this.start = document.getElementById("own-start");
      this.latest = new kvsim.Latest(PAUSE_MS);
      this.listen();
      this.showCapacity(page.own.cache);
      this.capacity.setAttribute("role", "status"); // what it opens with is no news
    }

    listen() {
      const { asking, words } = this;
      asking.addEventListener("gone", () => this.sayGone());
      asking.addEventListener("heard", () => (this.gone.textContent = ""));
      this.server.addEventListener("change", () => this.askCapacity());
      this.workload.addEventListener("change", () => this.askCapacity());
      this.goals.addEventListener("input", () => kvsim.clearWrong(this.goals));
      this.goals.addEventListener("submit", (event) => {
        event.preventDefault();
        this.compute();
      });
      this.log.addEventListener("use", () => {
        // What the lines do not say is as a server has it by default, and not as it was typed before.
        const usual = { tp: 1, block_size: null, max_length: null, max_num_seqs: null };
        this.server.fill({ ...usual, ...this.log.ask });
        this.computing.say("own_log_set");
        this.start.focus();
      });
      this.computing.addEventListener("atlas", ({ atlas, status }) => {
        this.whose.show(atlas, status.title, status.position);
        this.computing.say("own_above");
      });
      this.computing.addEventListener("results", ({ files, status }) => {
        this.results.show(status, this.asked, files);
      });
      document.getElementById("own-here").addEventListener("click", () => this.computeHere());
    }

    sayGone() {
      this.gone.textContent = this.words.fill("own_gone", {});
    }

    get forms() {
      return [this.server.form, this.workload.form, this.goals];
    }

    get fields() {
      const { block_overhead } = this.controls.settings;
      const goals = kvsim.fieldsOf(this.goals);
      return { block_overhead, ...this.server.fields, ...this.workload.fields, ...goals };
    }

    /** Clear what was wrong; true if something is that no server needs to be asked about. */
    isWrong() {
      kvsim.clearWrong(...this.forms);
      return this.forms.map((form) => kvsim.refuseNoNumbers(form, this.words)).some(Boolean);
    }

    /** Say what the cache is, as soon as the fields are left alone. */
    askCapacity() {
      this.latest.stop();
      if (this.isWrong() || this.server.fields.config === null) return this.showCapacity(null);
      // Without the trace nothing is known of requests, but the cache is.
      const { lacks } = this.workload;
      const fields = lacks ? { ...this.server.fields, ...kvsim.fieldsOf(this.goals) } : this.fields;
      this.latest.soon(async (signal) => {
        try {
          this.showCapacity(await this.asking.post("capacity", fields, { signal }), lacks);
        } catch (error) {
          if (error.name === "AbortError") throw error;
          if (!(error instanceof kvsim.Refused)) return; // what is shown stays, and it is said
          this.showCapacity(null);
          await this.sayRefused(error, signal);
        }
      });
    }

    /** Say what was refused: beside its field, or else where the cache would be described. A trace
        that the server has forgotten is sent again. */
    async sayRefused(error, signal) {
      if (error.answer.missing === "trace") return this.workload.send(signal);
      if (kvsim.sayRefused(this.forms, error.message)) return;
      const { config } = this.server.fields;
      try {
        if (config) await this.asking.post("config", config, { signal });
      } catch (refused) {
        if (refused.name === "AbortError") throw refused;
        if (refused instanceof kvsim.Refused) return kvsim.sayWrong(this.server.config, refused.message);
      }
      this.capacity.replaceChildren(kvsim.made("p", "own-wrong", error.message));
    }

    /** Show what the cache is; if the workload `lacks` something, without its requests. */
    showCapacity(answer, lacks) {
      const { words } = this;
      if (!answer) return this.capacity.replaceChildren();
      const named = (key, fields = {}) => words.fill(`own_cache_${key}`, fields);
      const facts = [
        [named("title"), answer.title],
        [named("bytes"), named("gib", { count: words.fixed(answer.cache_bytes / GIB, 2) })],
        [named("per_token"), words.count(answer.bytes_per_token)],
        [named("tokens"), words.count(answer.tokens)],
      ];
      if (!lacks) {
        const max_length = words.tokens(answer.position.max_length);
        const block_size = words.tokens(answer.position.block_size);
        facts.push(
          [named("contiguous", { max_length }), words.count(answer.contiguous_requests)],
          [named("paged", { block_size }), words.count(answer.paged_requests)],
          [named("mean"), words.count(answer.mean_request_tokens)],
        );
      }
      this.capacity.replaceChildren(kvsim.factList(facts), kvsim.sentenceList(answer.notes));
    }

    async compute() {
      if (this.isWrong()) return;
      if (this.workload.lacks) {
        kvsim.sayWrong(this.workload.input, this.workload.lacks);
        this.workload.input.focus();
        return;
      }
      this.asked = this.fields;
      const fields = () => (this.asked = { ...this.asked, ...this.workload.fields });
      try {
        await this.computing.run(fields, (signal) => this.workload.send(signal));
      } catch (error) {
        this.computing.say("");
        await this.sayRefused(error);
      }
    }

    /** The results where the sliders stand, which then stand in the fields too. */
    computeHere() {
      if (!this.whose.shown) return this.compute();
      const { block_size, max_length, rate } = this.controls.settings;
      this.server.fill({ block_size, max_length });
      document.getElementById("own-rate").value = rate;
      this.compute();
    }
  };
})((window.kvsim ??= {}));
