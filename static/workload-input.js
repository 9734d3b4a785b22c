/* The workload: lengths by name, means of the reader's own, or a trace from a file. */
(function (kvsim) {
  "use strict";

  kvsim.WorkloadInput = class extends EventTarget {
    /** Dispatches "change" when something else is to be simulated. */
    constructor(asking, words) {
      super();
      this.asking = asking;
      this.words = words;
      this.form = document.getElementById("own-workload");
      this.lengths = document.getElementById("own-lengths");
      this.input = document.getElementById("own-trace-file");
      this.leaveOut = document.getElementById("own-leave-out");
      this.answer = document.getElementById("own-trace-answer");
      this.latest = new kvsim.Latest(0);
      kvsim.takeFiles(document.getElementById("own-trace-drop"), this.input, (file) => {
        this.file = file;
        this.read();
      });
      this.leaveOut.addEventListener("input", () => this.file && this.read());
      this.form.addEventListener("input", (event) => {
        this.open();
        const apart = [this.input, this.leaveOut].includes(event.target);
        if (!apart) this.dispatchEvent(new Event("change"));
      });
      this.form.addEventListener("submit", (event) => event.preventDefault());
      this.open();
    }

    open() {
      for (const field of this.form.querySelectorAll("[data-lengths]")) {
        field.hidden = field.dataset.lengths !== this.lengths.value;
      }
      this.answer.hidden = this.lengths.value !== "trace";
    }

    get fields() {
      const fields = kvsim.fieldsOf(this.form);
      if (this.lengths.value === "trace") fields.trace = this.trace ?? null;
      return fields;
    }

    /** What keeps this workload from being simulated, in a sentence; empty if nothing does. */
    get lacks() {
      const lacking = this.lengths.value === "trace" && !this.trace;
      return lacking ? this.words.fill("own_trace_missing", {}) : "";
    }

    read() {
      this.trace = null;
      kvsim.sayWrong(this.input, "");
      if (kvsim.isTooLarge(this.file, this.input, this.words)) return this.answer.replaceChildren();
      this.answer.replaceChildren(kvsim.made("p", "", this.words.fill("own_trace_reading", {})));
      this.latest.soon((signal) => this.send(signal));
    }

    /** Send the file (again); what the server says of it is shown. */
    async send(signal) {
      try {
        const path = this.leaveOut.checked ? "trace?leave-out=1" : "trace";
        const read = await this.asking.post(path, this.file, { signal });
        this.trace = read.trace;
        this.answer.replaceChildren(...this.parts(read));
        kvsim.sayWrong(this.input, "");
        this.dispatchEvent(new Event("change"));
      } catch (error) {
        if (error.name === "AbortError") throw error;
        this.answer.replaceChildren();
        if (!(error instanceof kvsim.Refused)) return;
        kvsim.sayWrong(this.input, error.message);
        this.answer.append(...this.badRows(error.answer.bad_rows ?? []));
      }
    }

    badRows(rows) {
      if (!rows.length) return [];
      const sentences = rows.map((row) => row.sentence);
      return [kvsim.scrollingList(sentences, this.words.fill("own_trace_bad", {}))];
    }

    parts(read) {
      const { words } = this;
      const name = (key) => words.fill(`own_trace_${key}`, {});
      const spread = (values) =>
        words.fill(
          "own_trace_spread",
          Object.fromEntries(Object.entries(values).map(([key, value]) => [key, words.count(value)])),
        );
      const rate = Number(read.rate_per_s?.toPrecision(4));
      return [
        kvsim.factList([
          [name("requests"), words.count(read.requests)],
          [name("kind"), read.kind],
          [name("duration"), words.seconds(read.duration_s)],
          [name("rate"), read.rate_per_s === null ? name("at_once") : words.rate(rate)],
          [name("prompt"), spread(read.prompt_tokens)],
          [name("output"), spread(read.output_tokens)],
        ]),
        kvsim.sentenceList(read.remarks),
        ...this.badRows(read.bad_rows),
      ];
    }
  };
})((window.kvsim ??= {}));
