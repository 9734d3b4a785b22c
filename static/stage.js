/* The stage: puts the right films on for the controls, and keeps ledgers and words at the clock. */
(function (kvsim) {
  "use strict";

  const KINDS = ["contiguous", "paged"];
  const ASK_DELAY_MS = 200; // a slider in motion asks for nothing
  const PATIENCE_MS = 12_000; // a film takes a second; what takes longer has gone astray
  const RETRY_DELAY_MS = 5_000; // and twice as long after each time that it was in vain
  const LONGEST_DELAY_MS = 60_000;

  kvsim.Stage = class {
    constructor(player, drawings, words) {
      this.player = player;
      this.drawings = drawings;
      this.words = words;
      this.note = document.getElementById("film-note");
      this.finding = document.getElementById("cache-finding");
      this.ledgers = Object.fromEntries(KINDS.map((kind) => [kind, new kvsim.Ledger(kind, words)]));
      player.addEventListener("show", () => this.show());
      this.inspector = new kvsim.Inspector(player, drawings, words);
    }

    /** There will be no films: say so wherever one would be. */
    giveUp() {
      this.missing = true;
      this.update(this.reading, this.known);
    }

    /** Show kept films from now on; `address` is where a server makes the others, if there is one. */
    useFilms(films, address) {
      this.kept = films;
      this.address = address;
      if (this.reading) this.update(this.reading, this.known);
    }

    /** Follow the controls: a reading of the atlas, and the words of its position. */
    update(reading, known) {
      this.reading = reading;
      this.known = known;
      clearTimeout(this.asking);
      const { settings } = reading;
      const shown = reading.own ? null : (this.kept?.nearest(settings) ?? null);
      this.put(this.kept, shown);
      if (this.missing) {
        this.sayMissing(settings, null);
      } else if (!this.kept) {
        this.say("film_loading");
      } else if (shown?.rate === settings.rate) {
        this.say("");
      } else if (this.address && !reading.own) {
        this.say(shown ? "film_rate" : "film_asked", shown);
        this.asking = setTimeout(() => this.ask(settings, shown), ASK_DELAY_MS);
      } else {
        this.sayMissing(settings, shown);
      }
    }

    sayMissing(settings, shown) {
      const missing = settings.reservation === "slots" ? "film_missing" : "film_blank";
      this.say(shown ? "film_rate" : missing, shown);
    }

    /** Fetch the film of exactly these settings, and show it unless the controls have moved on. */
    async ask(settings, shown, delay = RETRY_DELAY_MS) {
      try {
        const films = await kvsim.openFilms(
          await kvsim.bytesAt(this.address(settings), PATIENCE_MS),
        );
        if (settings !== this.reading.settings) return;
        // A server that was restarted may simulate otherwise than the page's results.
        if (films.fingerprint !== this.reading.fingerprint) throw new Error("of another version");
        this.put(films, settings);
        this.say("");
      } catch {
        if (settings !== this.reading.settings) return;
        // The server is gone: what is kept stays, the note says what it is, and it may come back.
        this.sayMissing(settings, shown);
        this.note.textContent += ` ${this.words.fill("film_retried", {})}`;
        const next = Math.min(2 * delay, LONGEST_DELAY_MS);
        this.asking = setTimeout(() => this.ask(settings, shown, next), delay);
      }
    }

    say(note, shown) {
      const fields = shown ? { film_rate: this.words.rate(shown.rate) } : {};
      this.note.textContent = note && this.words.fill(note, fields);
    }

    /** Show films after the frame: a replay of small blocks takes longer, and sliders do not wait. */
    put(films, settings) {
      const reading = this.reading;
      clearTimeout(this.loading);
      this.loading = setTimeout(() => {
        const reels = settings && Object.fromEntries(KINDS.map((kind) => [kind, films.film(kind, settings)]));
        this.player.load(reading, reels);
      });
    }

    /** Write what the caches hold at the moment that the player shows. */
    show() {
      const { capacity } = this.reading;
      const fields = {};
      for (const kind of KINDS) {
        const moment = this.moment(kind);
        this.ledgers[kind].show(moment, capacity);
        const { tokens, free, external = 0 } = moment.parts;
        const notFree = capacity - free - external;
        Object.assign(fields, {
          [`${kind}_running`]: this.words.count(moment.running),
          [`${kind}_token_share`]: this.words.percent(tokens / capacity),
          [`${kind}_empty_share`]: this.words.percent((notFree - tokens) / capacity),
          [`${kind}_free_share`]: this.words.percent((free + external) / capacity),
        });
      }
      const clock = this.words.seconds(Math.round(this.player.time * 10) / 10);
      const known = { ...this.known, ...fields, clock };
      const computed = KINDS.every((kind) => this.reading[kind].computed);
      const scattered = this.player.replays && this.player.states.contiguous.parts.external > 0;
      const holes = scattered ? ` ${this.words.fill("holes", {})}` : "";
      const finding = computed ? "finding_cache" : "not_computed";
      this.finding.textContent = this.words.fill(finding, known) + holes;
      for (const kind of KINDS) {
        const label = this.words.fill(computed ? `drawing_${kind}` : "not_computed", known);
        this.drawings[kind].canvas.setAttribute("aria-label", label);
      }
    }

    moment(kind) {
      const { states } = this.player;
      if (this.player.replays) {
        const { parts, running, waiting } = states[kind];
        return { parts, running: running.length, waiting: waiting.length };
      }
      const { cached, held, running, waiting } = this.reading[kind];
      const empty = kind === "paged" ? "ends" : "empty";
      const free = this.reading.capacity - held;
      return { parts: { tokens: cached, [empty]: held - cached, free }, running, waiting };
    }
  };
})((window.kvsim ??= {}));
