/* The section on sharing: looks up its results and words them, as app/sections/sharing_words.py does. */
(function (kvsim) {
  "use strict";

  const BARS = ["contiguous", "alone", "shared"];
  const SAME = 0.05;

  /** Fetch the results and let the section follow both groups of controls, or say why it cannot;
      the document has `data-sharing` when either is done. */
  kvsim.startSharing = async function (address, workshop, controls, words) {
    try {
      const { header, arrays } = await kvsim.openContainer(await kvsim.bytesAt(address));
      new Section(new Results(header, arrays), workshop, controls, words);
    } catch ({ message }) {
      const notice = document.getElementById("sharing-notice");
      notice.textContent = words.fill("sharing_failed", { reason: message });
    }
    document.documentElement.dataset.sharing = "";
  };

  class Results {
    constructor(header, arrays) {
      this.axes = header.axes;
      this.ways = header.ways;
      this.story = header.story;
      this.arrays = arrays;
    }

    /** The end of the bars' scale: a round number that all prompts fit on, whatever the section's
        own settings. */
    mostPrompts(settings) {
      const { shared_prompts } = this.arrays;
      const [block, length] = ["block_size", "max_length"].map((name) =>
        this.axes[name].indexOf(settings[name]),
      );
      let most = 0;
      this.axes.samples.forEach((_, n) => {
        this.axes.system_tokens.forEach((_, s) => {
          const prompts = shared_prompts.at(block, length, n, s);
          if (prompts > most) most = prompts;
        });
      });
      return Math.ceil(most / 100) * 100;
    }

    /** What the section shows at some settings, the workshop's and its own; by bar, and by way. */
    reading(settings) {
      const index = (name) => this.axes[name].indexOf(settings[name]);
      const here = [index("samples"), index("system_tokens")];
      const block = [index("block_size"), index("max_length"), ...here];
      const minute = [...here, index("prompt_rate")];
      const { contiguous_prompts, alone_prompts, shared_prompts } = this.arrays;
      const shared = shared_prompts.at(...block);
      const regions = contiguous_prompts.at(index("max_length"), index("samples"));
      const byWay = (name, place) =>
        Object.fromEntries(this.ways.map((way, row) => [way, this.arrays[name].at(row, ...place)]));
      return {
        settings,
        prompts: {
          contiguous: Number.isNaN(shared) ? NaN : regions,
          alone: alone_prompts.at(...block),
          shared,
        },
        sustained: byWay("sustained", here),
        ttft: byWay("ttft", minute),
        found: byWay("found", minute),
      };
    }
  }

  /** Everything in the section that follows controls, by key. */
  kvsim.sharingWords = function (words, reading, shown, plate) {
    const { settings, prompts, sustained, ttft, found } = reading;
    const room = !Number.isNaN(prompts.shared);
    const none = words.fill("sharing_none", {});
    const way = settings.keep_prefixes ? "kept" : "running";
    const ofWay = { contiguous: "contiguous", alone: "off", shared: way };
    const known = {
      samples: shown.samples,
      system: shown.system_tokens,
      prompt_rate: shown.prompt_rate,
      block_size: words.tokens(settings.block_size),
      max_length: words.tokens(settings.max_length),
      plate_block_size: words.tokens(plate.block_size),
      plate_max_length: words.tokens(plate.max_length),
      saved: room ? words.percent(1 - prompts.alone / prompts.shared) : none,
    };
    for (const bar of BARS) {
      const of = ofWay[bar];
      known[`${bar}_prompts`] = room ? words.significant(prompts[bar]) : none;
      known[`${bar}_sustained`] = words.significant(sustained[of]);
      known[`${bar}_ttft`] = words.seconds(ttft[of]);
      known[`${bar}_found`] = words.percent(found[of]);
    }
    for (const each of ["running", "kept"]) {
      known[`${each}_ttft`] = words.seconds(ttft[each]);
      known[`${each}_found`] = words.percent(found[each]);
    }
    let fits = "nothing";
    if (!room) {
      fits = "full";
    } else if (prompts.shared > prompts.alone) {
      known.more = words.significant(prompts.shared / prompts.alone);
      fits = "fit";
    }
    known.finding = words.fill(`sharing_${fits}`, known);
    const gained = ttft.running / ttft.kept - 1;
    const kept = Math.abs(gained) < SAME ? "same" : gained > 0 ? "more" : "less";
    known.keeping = words.fill(`sharing_kept_${kept}`, known);
    known.switched = words.fill(`sharing_switched_${way}`, {});
    known.chart = words.fill("sharing_chart", known);
    return known;
  };

  class Section {
    /** Follows two groups of controls: the workshop's and its own. */
    constructor(results, workshop, controls, words) {
      this.results = results;
      this.workshop = workshop;
      this.controls = controls;
      this.words = words;
      this.live = document.querySelectorAll("[data-sharing]");
      this.chart = document.getElementById("sharing-bars");
      this.steps = new kvsim.SharingSteps(results.story, words);
      for (const group of [workshop, controls]) {
        group.addEventListener("change", () => {
          this.pending ||= requestAnimationFrame(() => this.update());
        });
      }
      this.update();
    }

    /** The texts of the section's controls where they stand. */
    get shown() {
      const { table, position } = this.controls;
      return Object.fromEntries(table.map(({ name, shown }) => [name, shown[position[name]]]));
    }

    /** The settings that everything is simulated at: the workshop's own. */
    get plate() {
      const { table } = this.workshop.plates;
      return Object.fromEntries(table.map((each) => [each.name, each.values[each.default]]));
    }

    update() {
      this.pending = 0;
      const settings = { ...this.workshop.plates.settings, ...this.controls.settings };
      const reading = this.results.reading(settings);
      const known = kvsim.sharingWords(this.words, reading, this.shown, this.plate);
      for (const element of this.live) element.textContent = known[element.dataset.sharing];
      this.chart.setAttribute("aria-label", known.chart);
      const most = this.results.mostPrompts(settings);
      for (const bar of BARS) {
        const share = (100 * reading.prompts[bar]) / most;
        document.getElementById(`sharing-bar-${bar}`).style.width = `${share || 0}%`;
      }
      this.steps.tell(settings);
    }
  }
})((window.kvsim ??= {}));
