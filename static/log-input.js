/* A pasted log: what was read in it, what its lines mean, and setting the page to that server. */
(function (kvsim) {
  "use strict";

  const PAUSE_MS = 350;

  kvsim.LogInput = class extends EventTarget {
    /** `names` says what the figures of a log are called. Dispatches "use" when the page is to be
        set to the log's server; `ask` has the fields. */
    constructor(asking, words, names) {
      super();
      this.names = names;
      this.asking = asking;
      this.words = words;
      this.text = document.getElementById("own-log-text");
      this.answer = document.getElementById("own-log-answer");
      this.use = document.getElementById("own-log-use");
      this.latest = new kvsim.Latest(PAUSE_MS);
      const zone = document.getElementById("own-log-drop");
      kvsim.takeFiles(zone, document.getElementById("own-log-file"), async (file) => {
        const text = await kvsim.textOf(file, this.text, words);
        if (text === null) return;
        this.text.value = text;
        this.read();
      });
      this.text.addEventListener("input", () => this.read());
      document.getElementById("own-log").addEventListener("submit", (event) => event.preventDefault());
      this.use.addEventListener("click", () => this.dispatchEvent(new Event("use")));
    }

    read() {
      kvsim.sayWrong(this.text, "");
      if (!this.text.value.trim()) {
        this.latest.stop();
        this.show();
        return;
      }
      this.latest.soon(async (signal) => {
        try {
          this.show(await this.asking.post("log", this.text.value, { signal }));
        } catch (error) {
          if (error.name === "AbortError") throw error;
          this.show();
          if (error instanceof kvsim.Refused) kvsim.sayWrong(this.text, error.message);
        }
      });
    }

    show(read) {
      this.ask = read?.ask;
      this.use.hidden = !read || !Object.keys(read.ask).length;
      this.answer.replaceChildren(...(read ? this.parts(read) : []));
    }

    parts(read) {
      const { words } = this;
      const engine = [read.engine, read.generation].filter(Boolean).join(" ");
      const facts = Object.entries(read.figures).map(([name, { value, line, worker }]) => [
        this.names[name] ?? name,
        Number.isInteger(value) ? words.count(value) : String(value),
        [words.fill("own_log_line", { line }), worker].filter(Boolean).join(", "),
      ]);
      if (engine) facts.unshift([words.fill("own_log_engine", {}), engine]);
      const said = [read.capacity?.sentence ?? read.capacity_problem].filter(Boolean);
      said.push(...read.remarks.map((remark) => remark.sentence));
      const parts = [kvsim.sentenceList(said)];
      if (facts.length) parts.unshift(kvsim.factList(facts));
      if (read.unread.length) {
        const unread = read.unread.map((each) => each.sentence);
        parts.push(kvsim.scrollingList(unread, words.fill("own_log_unread", {})));
      }
      if (!Object.keys(read.ask).length) {
        parts.push(kvsim.made("p", "", words.fill("own_log_nothing_to_set", {})));
      }
      return parts;
    }
  };
})((window.kvsim ??= {}));
