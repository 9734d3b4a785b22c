/* What the tests ask of a film without its player: a replay of given bytes, pass by pass. */
window.filming = {
  /** Open a file of films and replay one; returns how long it is, in passes and stays. */
  async open(base64, kind, settings, capacity) {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const films = await kvsim.openFilms(bytes);
    const unit = kind === "paged" ? settings.block_size : settings.max_length;
    this.replay = new kvsim.Replay(films.film(kind, settings), kind, unit, capacity);
    return { passes: this.replay.passes, stays: this.replay.count, units: this.replay.units };
  },

  /** What the replay says while a pass is under way. */
  moment(q) {
    const { replay } = this;
    return replay.at(replay.timeOf(q) + replay.tick);
  },

  /** The number that the clock finds for each pass, who runs, who waits, and the parts. */
  counts(passes) {
    return passes.map((pass) => {
      const { q, running, waiting, parts } = this.moment(pass);
      return { q, running: running.length, waiting: waiting.length, parts };
    });
  },

  /** Each running request of a pass: its number, cached tokens, and units in order of tokens. */
  places(pass) {
    const { replay } = this;
    const { q, running } = this.moment(pass);
    return running.map((stay) => ({
      request: replay.request[stay],
      tokens: replay.tokens(stay, q),
      units: Array.from(replay.places[stay].subarray(0, replay.held(stay, q))),
    }));
  },

  /** All units of all stays in a row, as one number that differs when a unit does. */
  async digest() {
    const all = new Blob(this.replay.places);
    const hash = await crypto.subtle.digest("SHA-256", await all.arrayBuffer());
    return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
  },
};
