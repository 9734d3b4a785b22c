/* The section on an overcommitted cache: looks up a position and writes its words, as
   app/sections/overcommit.py does; tests hold the two against each other. */
(function (kvsim) {
  "use strict";

  const AXES = ["way", "watermark", "overcommit_block_size", "overcommit_rate"];
  const TIMES = ["ttft", "tpot", "latency"];
  const PERCENTILES = ["p50", "p90", "p99"];
  const TRADED = ["preemptions", "running"];
  const COMPARED_WATERMARK = 1; // per cent, beside a position without a watermark

  kvsim.Overcommitted = class {
    /** `header` and `arrays` are those of the file; `words` formats. */
    constructor({ header, arrays }, words) {
      this.header = header;
      this.arrays = arrays;
      this.words = words;
    }

    /** Where settings, the value of each control by its name, stand on the axes. */
    position(settings) {
      const swap = settings.copy_charge ? "charged" : "swap";
      const chosen = { ...settings, way: settings.preemption === "swap" ? swap : "recompute" };
      return AXES.map((name) => this.header.axes[name].indexOf(chosen[name]));
    }

    value(name, position, ...more) {
      return this.arrays[name].at(...position, ...more);
    }

    /** The pre-emptions of the minute that is drawn. */
    events(settings) {
      const { header, arrays } = this;
      const number = this.position(settings).reduce(
        (place, index, axis) => place * header.axes[AXES[axis]].length + index,
        0,
      );
      const ends = arrays.event_ends.values;
      const rows = [number ? ends[number - 1] : 0, ends[number]];
      const evicted = kvsim.summed(arrays.event_evicted_steps.values, ...rows);
      const request = kvsim.summed(arrays.event_request_steps.values, ...rows);
      const at = (name, row) => arrays[`event_${name}`].values[rows[0] + row];
      return Array.from(request, (each, row) => ({
        request: each,
        evicted_s: evicted[row] * header.evicted_tick_s,
        away_s: at("away", row) * header.away_tick_s,
        recomputed: at("recomputed", row),
        moved_bytes: at("moved", row) * header.moved_tick_bytes,
        cost_ticks: at("cost", row),
      }));
    }

    /** Blocks in use, as a share of all, once a second. */
    held(settings) {
      const position = this.position(settings);
      return Array.from(
        { length: this.header.duration_s + 1 },
        (_, point) => this.value("held", position, point) * this.header.held_tick,
      );
    }

    /** Everything that follows the controls, by key. */
    of(settings) {
      const { words, header } = this;
      const position = this.position(settings);
      const mark = settings.watermark ? 0 : COMPARED_WATERMARK;
      const back = settings.preemption === "swap" ? "recompute" : "swap";
      const marked = this.position({ ...settings, watermark: mark });
      const returned = this.position({ ...settings, preemption: back });
      const way = ([index]) => words.fill(`overcommit_way_${header.axes.way[index]}`, {});
      const known = {
        rate: words.rate(settings.overcommit_rate),
        block_size: words.tokens(settings.overcommit_block_size),
        watermark: words.fill("percent", { count: words.plain(settings.watermark) }),
        blocks: words.count(header.blocks[position[2]]),
        replications: words.count(header.replications),
        chosen_heading: way(position),
        marked_heading: words.fill("overcommit_with_watermark", { watermark: words.plain(mark) }),
        returned_heading: way(returned),
        ...this.column("chosen", position),
        ...this.column("marked", marked),
        ...this.column("returned", returned),
      };
      header.axes.watermark.forEach((watermark, place) => {
        const column = this.column(`mark${place}`, this.position({ ...settings, watermark }));
        for (const name of TRADED) known[`mark${place}_${name}`] = column[`mark${place}_${name}`];
      });
      const events = this.events(settings);
      const ticks = events.reduce((sum, event) => sum + event.cost_ticks, 0);
      known.drawn = words.count(events.length);
      known.drawn_lost = words.seconds(ticks * header.cost_tick_s);
      known.finding = words.fill(`overcommit_finding_${this.case(settings, events)}`, known);
      known.drawing = words.fill("overcommit_drawing", known);
      return known;
    }

    /** Which sentence is true: about the minute drawn, other minutes, or why there are none. */
    case(settings, events) {
      if (events.length) return `some_${settings.preemption}`;
      if (this.value("preemptions", this.position(settings))) return "elsewhere";
      const unmarked = this.position({ ...settings, watermark: 0 });
      return this.value("preemptions", unmarked) ? "watermark" : "sustained";
    }

    /** How long the bars of the trade are, as shares of the longest. */
    shares(settings) {
      const shares = {};
      for (const name of TRADED) {
        const values = this.header.axes.watermark.map((watermark) =>
          this.value(name, this.position({ ...settings, watermark })),
        );
        const most = Math.max(...values) || 1;
        values.forEach((value, place) => (shares[`mark${place}_${name}`] = value / most));
      }
      return shares;
    }

    column(name, position) {
      const { words } = this;
      const value = (figure, ...more) => this.value(figure, position, ...more);
      const known = {
        preemptions: words.significant(value("preemptions")),
        preempted: words.significant(value("preempted")),
        recomputed: words.tokens(value("recomputed")),
        moved: words.fill("gigabyte", { count: words.significant(value("moved") / 1e9) }),
        lost: words.seconds(value("lost")),
        running: words.fixed(value("running"), 1),
        peak: words.count(value("peak")),
      };
      for (const time of TIMES) {
        PERCENTILES.forEach((percentile, place) => {
          const seconds = value(time, place);
          known[`${time}_${percentile}`] =
            time === "tpot" ? this.milliseconds(seconds) : words.seconds(seconds);
        });
      }
      return Object.fromEntries(
        Object.entries(known).map(([key, text]) => [`${name}_${key}`, text]),
      );
    }

    milliseconds(seconds) {
      return this.words.fill("millisecond", { count: this.words.significant(1e3 * seconds) });
    }

    /** Who was pre-empted, when, for how long, and what it cost. */
    event(settings, events, place) {
      const { words } = this;
      const event = events[place];
      return words.fill(`overcommit_event_${settings.preemption}`, {
        place: words.count(place + 1),
        drawn: words.count(events.length),
        number: words.count(event.request + 1),
        at: words.fixed(event.evicted_s, 2),
        away: this.milliseconds(event.away_s),
        tokens: words.tokens(event.recomputed),
        moved: words.fill("megabyte", { count: words.count(event.moved_bytes / 1e6) }),
        cost: this.milliseconds(event.cost_ticks * this.header.cost_tick_s),
      });
    }
  };
})((window.kvsim ??= {}));
