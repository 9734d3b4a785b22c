/* What the tests ask of a film without its player: a replay of given bytes, pass by pass. */
window.filming = {
  /** Open a file of films and replay one; returns how long it is, in passes and stays. */
  async open(base64, kind, settings, capacity) {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const films = await kvsim.openFilms(bytes);
    const slots = settings.reservation === "slots";
    const unit = kind === "paged" ? settings.block_size : slots ? settings.max_length : 16;
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

  /** Each running request of a pass: its number, cached tokens, and how many units it holds; and
      all their units, in the order of their tokens. */
  places(pass) {
    const { replay } = this;
    const { q, running } = this.moment(pass);
    const held = running.map((stay) => replay.places[stay].subarray(0, replay.held(stay, q)));
    return {
      places: running.map((stay, index) => [
        replay.request[stay],
        replay.tokens(stay, q),
        held[index].length,
      ]),
      units: this.base64(new Uint32Array(held.flatMap((units) => Array.from(units)))),
    };
  },

  /** Numbers as text, which reaches Python sooner than a list of them. */
  base64(numbers) {
    const bytes = new Uint8Array(numbers.buffer);
    let text = "";
    for (let start = 0; start < bytes.length; start += 4096) {
      text += String.fromCharCode(...bytes.subarray(start, start + 4096));
    }
    return btoa(text);
  },

  /** All units of all stays in a row, as one number that differs when a unit does. */
  async digest() {
    const all = new Blob(this.replay.places);
    const hash = await crypto.subtle.digest("SHA-256", await all.arrayBuffer());
    return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0")).join("");
  },
};
