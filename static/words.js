/* The live words: numbers with their units, and sentences that follow the controls. app/words.py
   writes the same ones into the page before any script; tests hold the two against each other. */
(function (kvsim) {
  "use strict";

  const THIN_SPACE = "\u202f";
  const RESOURCES = (kvsim.RESOURCES = ["memory", "compute", "bandwidth"]);
  const SMALL = 5; // per cent: where twice of anything saves less, nothing binds
  const ALIKE = 5; // per cent: resources that save nearly as much as the best one bind as well

  /** Which resources bind, by what twice of each saves in per cent: their places. */
  kvsim.binding = function (saved) {
    const best = Math.max(...saved);
    return best < SMALL ? [] : [0, 1, 2].filter((place) => saved[place] >= best - ALIKE);
  };

  kvsim.Words = class {
    /** `templates` are the sentences of words.en.json, `constants` what app/words.py made of the
        atlas's constants. */
    constructor(templates, constants) {
      this.templates = templates;
      this.constants = constants;
    }

    fill(template, fields) {
      return this.templates[template].replace(/\{(\w+)\}/g, (_, name) => fields[name]);
    }

    /** A number as it is, with the language's decimal mark. */
    plain(number) {
      return String(number).replace(".", this.templates.decimal_mark);
    }

    fixed(number, decimals) {
      return number.toFixed(decimals).replace(".", this.templates.decimal_mark);
    }

    count(number) {
      if (Number.isNaN(number)) return this.templates.unknown; // not simulated yet
      return number.toFixed(0).replace(/\B(?=(\d{3})+$)/g, THIN_SPACE);
    }

    /** Two significant digits, or all digits of a number from 10. */
    significant(number) {
      if (Number.isNaN(number)) return this.templates.unknown;
      if (number >= 9.95 || number === 0) return this.count(number);
      let decimals = 1;
      while (decimals < 4 && number < 9.95 * 10 ** -decimals) decimals++;
      return this.fixed(number, decimals);
    }

    /** One decimal, or two close to either end. */
    percent(share) {
      const value = 100 * share;
      if (Number.isNaN(value)) return this.templates.unknown;
      const decimals = value === 0 || value === 100 ? 0 : value >= 1 && value <= 99.9 ? 1 : 2;
      return this.fill("percent", { count: this.fixed(value, decimals) });
    }

    tokens(number) {
      return this.fill(number === 1 ? "token" : "tokens", { count: this.count(number) });
    }

    rate(number) {
      return this.fill(number === 1 ? "rate_one" : "rate", { count: this.plain(number) });
    }

    /** A rate that was simulated: one decimal, or two digits below one a second. */
    perSecond(number) {
      return number >= 0.95 ? this.fixed(number, 1) : this.significant(number);
    }

    seconds(number) {
      if (Number.isNaN(number)) return this.templates.unknown;
      return this.fill("second", { count: this.significant(number) });
    }

    /** Everything that follows the controls, by key. */
    of(reading) {
      const { settings, contiguous, paged } = reading;
      // "slots" are as long as the maximum; the others are named by allocator and estimate.
      const estimate = settings.reservation.split("-").pop().replace("slots", "max");
      const max_length = this.tokens(settings.max_length);
      const known = {
        ...this.constants,
        clock: this.seconds(Number(this.constants.arrivals_s)),
        block_size: this.tokens(settings.block_size),
        max_length,
        rate: this.rate(settings.rate),
        fit_ratio: this.significant(paged.requests / contiguous.requests),
        ttft_ratio: this.significant(contiguous.ttft[1] / paged.ttft[1]),
        traffic: this.fill(`traffic_${reading.workload}`, this.constants),
        reserving: this.fill(`reserving_${estimate}`, { max_length }),
        reservation_note: this.fill(`note_${estimate}`, {}),
        overhead: this.fill(settings.block_overhead ? "overhead_on" : "overhead_off", this.constants),
        ...this.side("contiguous", contiguous, reading),
        ...this.side("paged", paged, reading),
      };
      const growing = contiguous.queueGrows
        ? paged.queueGrows ? "both" : "contiguous"
        : paged.queueGrows ? "paged" : "steady";
      const gained = paged.sustained / contiguous.sustained;
      const verdict = gained > 1.05 ? "more" : gained > 0.95 ? "same" : "less";
      known.verdict = this.fill(`verdict_${verdict}`, {});
      known.finding_ttft = this.fill(`finding_ttft_${growing}`, known);
      for (const name of ["finding_capacity", "finding_cache", "limit_line", "doubled_line"]) {
        known[name] = this.fill(name, known);
      }
      known.assumptions = this.fill(reading.own ? "assumptions_own" : "assumptions", known);
      const sides = [contiguous, paged];
      if (sides.some((side) => Number.isNaN(side.requests))) {
        known.finding_capacity = this.fill("not_computed", {});
      }
      if (sides.some((side) => Number.isNaN(side.sustained))) known.verdict = "";
      if (sides.some((side) => Number.isNaN(side.doubled[0]))) {
        known.limit_line = this.fill("not_computed", {});
        known.doubled_line = "";
      }
      if (!sides.every((side) => side.computed)) {
        known.finding_ttft = known.finding_cache = this.fill("not_computed", {});
      }
      for (const name of ["chart_capacity", "chart_ttft", "drawing_contiguous", "drawing_paged"]) {
        known[name] = this.fill(name, known);
      }
      return known;
    }

    side(kind, side, { capacity, rateIndex }) {
      const [low, median, high] = side.ttft;
      const saved = side.saved[rateIndex];
      const words = {
        fit: this.count(side.requests),
        share: this.percent(side.share),
        wasted: this.percent(1 - side.share),
        ttft: this.seconds(median),
        ttft_band: this.fill("band", { low: this.significant(low), high: this.significant(high) }),
        sustained: this.fill("rate", { count: this.perSecond(side.sustained) }),
        sustained_value: this.perSecond(side.sustained),
        running: this.count(side.running),
        waiting: this.count(side.waiting),
        token_share: this.percent(side.cached / capacity),
        empty_share: this.percent((side.held - side.cached) / capacity),
        free_share: this.percent(1 - side.held / capacity),
        limit: this.limit(saved),
        limit_names: this.limitNames(saved),
        ...Object.fromEntries(
          RESOURCES.map((name, place) => [`sustained_twice_${name}`, this.perSecond(side.doubled[place])]),
        ),
      };
      if (Number.isNaN(side.sustained)) words.sustained = this.templates.unknown;
      if (!side.computed) words.ttft_band = this.templates.unknown;
      if (Number.isNaN(side.doubled[0])) words.limit = words.limit_names = this.templates.unknown;
      return Object.fromEntries(
        Object.entries(words).map(([name, text]) => [`${kind}_${name}`, text]),
      );
    }

    /** Which limits bind, and what twice of each saves, from what all of them save in per cent. */
    limit(saved) {
      const each = kvsim.binding(saved).map((place) =>
        this.fill("limit_saves", {
          resource: this.fill(`resource_${RESOURCES[place]}`, {}),
          saved: this.fill("percent", { count: saved[place] }),
        }),
      );
      const [first, second, third] = each;
      const small = this.fill("percent", { count: SMALL });
      return this.fill(`limit_${each.length}`, { small, first, second, third });
    }

    limitNames(saved) {
      const names = kvsim.binding(saved).map((place) => this.fill(`resource_${RESOURCES[place]}`, {}));
      return names.join(", ") || this.fill("resource_none", {});
    }
  };
})((window.kvsim ??= {}));
