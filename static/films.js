/* Films: the shipped runs of both caches through the first minute; app/results/films.py writes them. */
(function (kvsim) {
  "use strict";

  /** Open the bytes of the films; rejects if they are damaged. */
  kvsim.openFilms = async function (bytes) {
    return new Films(await kvsim.openContainer(bytes));
  };

  class Films {
    constructor({ header, arrays }) {
      this.fingerprint = header.fingerprint;
      this.axes = header.axes;
      this.tick = header.tick_s;
      this.duration = header.duration_s;
      this.arrays = arrays;
    }

    /** The kept settings that are nearest to some: another rate, if need be; null if none are. */
    nearest(settings) {
      const rates = this.axes.rate.map((rate) => Math.abs(rate - settings.rate));
      const rate = this.axes.rate[rates.indexOf(Math.min(...rates))];
      const kept = { ...settings, rate };
      return Object.keys(this.axes).every((name) => this.axes[name].includes(kept[name]))
        ? kept
        : null;
    }

    /** The film of one allocation at settings that are kept. */
    film(kind, settings) {
      const index = (name) => this.axes[name].indexOf(settings[name]);
      const length = index("max_length");
      const number =
        kind === "paged"
          ? this.arrays.paged_film.at(index("block_overhead"), index("block_size"), length, index("rate"))
          : this.arrays.contiguous_film.at(index("reservation"), length, index("rate"));
      const row = (table) => {
        const [, count] = table.shape;
        return table.values.subarray(length * count, (length + 1) * count);
      };
      return {
        request: this.column("request", "request", number),
        firstPass: this.column("first_pass", "request", number),
        evicted: this.column("evicted", "evicted", number),
        evictedPass: this.column("evicted_pass", "evicted", number),
        clockPass: this.column("clock_pass", "clock_pass", number),
        clockTick: this.column("clock_tick", "clock_pass", number),
        runStart: this.column("run_start", "run_start", number),
        runBlocks: this.column("run_blocks", "run_start", number),
        runReserved: this.column("reserved", "run_start", number),
        scattered: this.column("scattered", "scattered", number),
        seenRequest: this.column("seen_request", "seen_request", number),
        seenIn: this.column("seen_pass", "seen_request", number),
        tick: this.tick,
        arrival: this.arrays.unit_arrival_s.values.map((gap) => gap / settings.rate),
        prompt: row(this.arrays.prompt_tokens),
        output: row(this.arrays.output_tokens),
      };
    }

    column(name, counted, number) {
      const ends = this.arrays[`${counted}_ends`].values;
      const start = number ? ends[number - 1] : 0;
      return kvsim.summed(this.arrays[`${name}_steps`].values, start, ends[number]);
    }
  }
})((window.kvsim ??= {}));
