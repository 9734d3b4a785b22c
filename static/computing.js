/* Computing: asks for an atlas, follows it as it grows, shows how far it is, and lets it be. */
(function (kvsim) {
  "use strict";

  const PAUSE_MS = 300; // between two looks
  const ENDED = ["done", "failed", "cancelled"];

  kvsim.Computing = class extends EventTarget {
    /** Dispatches "status" with each status (in `status`), "atlas" with a new atlas (in `atlas`),
        and "results" when there are some. */
    constructor(asking, words) {
      super();
      this.asking = asking;
      this.words = words;
      this.cancel = document.getElementById("own-cancel");
      this.line = document.getElementById("own-progress-line");
      this.bar = document.getElementById("own-progress");
      this.shown = document.getElementById("own-progress-shown");
      this.notice = document.getElementById("own-notice");
      this.cancel.addEventListener("click", () => this.stop());
      // Who leaves the page waits for nothing any more.
      addEventListener("pagehide", () => {
        if (this.controller) navigator.sendBeacon(asking.at(this.path("cancel")));
      });
    }

    path(what) {
      const { job, ticket } = this.status;
      return `jobs/${job}${what ? `/${what}` : ""}?ticket=${encodeURIComponent(ticket)}`;
    }

    say(sentence, fields = {}) {
      this.notice.textContent = sentence && this.words.fill(sentence, fields);
    }

    /** Compute what `fields()` says; `sendAgain` brings a trace that the server does not know. */
    async run(fields, sendAgain) {
      this.leave();
      const controller = (this.controller = new AbortController());
      const { signal } = controller;
      this.say("own_asking");
      try {
        this.status = await this.begin(fields, sendAgain, signal);
        this.version = 0;
        this.cancel.hidden = this.line.hidden = false;
        this.say("");
        await this.follow(fields, sendAgain, signal);
      } catch (error) {
        if (error.name === "AbortError") return;
        this.end();
        if (error instanceof kvsim.Refused) throw error;
        this.say("own_failed", { reason: `${error.message}.` });
      }
    }

    async begin(fields, sendAgain, signal) {
      try {
        return await this.asking.post("compute", fields(), { signal });
      } catch (error) {
        if (error.answer?.missing !== "trace") throw error;
        await sendAgain(signal);
        return this.asking.post("compute", fields(), { signal });
      }
    }

    async follow(fields, sendAgain, signal) {
      let asked = 0;
      for (;;) {
        await this.take(this.status, signal);
        if (ENDED.includes(this.status.state)) break;
        await new Promise((wait) => setTimeout(wait, PAUSE_MS));
        signal.throwIfAborted();
        try {
          this.status = await this.asking.get(this.path(), { signal });
        } catch (error) {
          // Another process of the server, or one that was started since: it is asked in turn.
          if (error.status !== 404 || asked++) throw error;
          this.status = await this.begin(fields, sendAgain, signal);
        }
      }
      const { state, reason } = this.status;
      this.end();
      this.say(`own_${state}`, { reason });
    }

    /** Show a status, and what is new in it. */
    async take(status, signal) {
      const { done, total, state } = status;
      this.bar.max = Math.max(total, 1);
      this.bar.value = done;
      const stage = this.words.fill(`own_stage_${status.stage ?? "waiting"}`, {});
      this.shown.textContent = this.words.fill("own_progress", { stage, done, total });
      if (status.version > this.version) {
        const path = `jobs/${status.job}/atlas?version=${status.version}`;
        const atlas = await kvsim.openAtlas(await this.asking.bytes(path, { signal }));
        this.version = status.version;
        this.tell("atlas", { atlas, status });
      }
      if (status.results && this.resultsOf !== status.job) {
        const path = (kind) => `jobs/${status.job}/results.${kind}`;
        const kinds = ["json", "csv", "py"];
        const texts = await Promise.all(kinds.map((kind) => this.asking.text(path(kind), { signal })));
        const files = Object.fromEntries(kinds.map((kind, index) => [kind, texts[index]]));
        this.resultsOf = status.job;
        this.tell("results", { files, status });
      }
    }

    tell(name, more) {
      this.dispatchEvent(Object.assign(new Event(name), more));
    }

    /** Let what is being computed be, because the reader says so. */
    async stop() {
      const path = this.path("cancel");
      this.controller?.abort();
      this.end();
      this.say("own_cancelled");
      await this.asking.post(path, "").catch(() => {}); // if it is gone, it computes nothing
    }

    /** Let it be because something else is wanted. */
    leave() {
      if (!this.controller) return;
      this.controller.abort();
      if (this.status) this.asking.post(this.path("cancel"), "").catch(() => {});
      this.end();
    }

    end() {
      this.controller = null;
      this.resultsOf = null;
      if (document.activeElement === this.cancel) document.getElementById("own-start").focus();
      this.cancel.hidden = this.line.hidden = true;
    }
  };
})((window.kvsim ??= {}));
