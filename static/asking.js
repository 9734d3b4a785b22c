/* Asking the server about a reader's own server: sends what was given, returns what it answers. */
(function (kvsim) {
  "use strict";

  /** The server said no: `message` is its sentence, `answer` all of it, `status` that of HTTP. */
  kvsim.Refused = class extends Error {
    constructor(answer, status) {
      super(answer.error);
      this.answer = answer;
      this.status = status;
    }
  };

  /** Nothing answers, or something that is not the plate's server. */
  kvsim.Gone = class extends Error {};

  kvsim.Asking = class extends EventTarget {
    /** `address` is where the server answers; a page without a server has none. Dispatches "heard"
        and "gone" as the server answers and does not. */
    constructor(address) {
      super();
      this.address = address;
    }

    get possible() {
      return Boolean(this.address);
    }

    /** Where a path lies, for a link. */
    at(path) {
      return `${this.address}/${path}`;
    }

    /** Get a path, as JSON. */
    get(path, options) {
      return this.fetched(path, options, (response) => response.json());
    }

    /** Get a path's bytes. */
    bytes(path, options) {
      return this.fetched(path, options, async (response) => new Uint8Array(await response.arrayBuffer()));
    }

    /** Get a path's text. */
    text(path, options) {
      return this.fetched(path, options, (response) => response.text());
    }

    /** Post text, a file, or fields as JSON; the answer is JSON. */
    post(path, body, options) {
      const raw = typeof body === "string" || body instanceof Blob;
      return this.fetched(
        path,
        {
          ...options,
          method: "POST",
          headers: { "Content-Type": raw ? "text/plain; charset=utf-8" : "application/json" },
          body: raw ? body : JSON.stringify(body),
        },
        (response) => response.json(),
      );
    }

    async fetched(path, options, read) {
      let answer;
      let response;
      try {
        response = await fetch(this.at(path), options);
        answer = response.ok ? await read(response) : await response.json();
      } catch (error) {
        if (error.name === "AbortError") throw error;
        this.dispatchEvent(new Event("gone"));
        throw new kvsim.Gone(response ? `HTTP ${response.status}` : error.message);
      }
      this.dispatchEvent(new Event("heard"));
      if (!response.ok) throw new kvsim.Refused(answer, response.status);
      return answer;
    }
  };

  /** Calls that follow a reader's typing: only the last one counts, after a pause. */
  kvsim.Latest = class {
    constructor(pause_ms) {
      this.pause = pause_ms;
    }

    /** Run `ask(signal)` after the pause; what ran before is aborted, and says nothing more. */
    soon(ask) {
      this.stop();
      const controller = (this.controller = new AbortController());
      this.timer = setTimeout(async () => {
        try {
          await ask(controller.signal);
        } catch (error) {
          if (error.name !== "AbortError") throw error;
        }
      }, this.pause);
    }

    stop() {
      clearTimeout(this.timer);
      this.controller?.abort();
    }
  };
})((window.kvsim ??= {}));
