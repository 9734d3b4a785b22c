/* Taking away: each figure as a picture and as numbers, in files named by the settings. */
(function (kvsim) {
  "use strict";

  const KINDS = ["contiguous", "paged"];
  const MOST_CHARACTERS = 40; // of a title in a file's name
  const TYPES = { png: "image/png", svg: "image/svg+xml", csv: "text/csv" };

  kvsim.Taking = class {
    /** `now` returns {atlas, reading, known} of what is shown, `address` a link to it, empty if there
        is none, `whose` the server that it is of; `items` are the charts as Bokeh's json_item. */
    constructor({ now, address, whose, items, controls, stage, words, version }) {
      Object.assign(this, { now, address, whose, items, controls, stage, words, version });
      for (const button of document.querySelectorAll("[data-take]")) {
        button.addEventListener("click", () => this.take(button));
      }
    }

    async take(button) {
      const { take: figure, kind } = button.dataset;
      const notice = button.closest(".take").nextElementSibling;
      const say = (sentence, fields) => (notice.textContent = this.words.fill(sentence, fields));
      const file = `${this.name(figure)}.${kind}`;
      notice.parentElement.querySelector(".taken")?.remove();
      try {
        const blob = await this.blob(figure, kind);
        const inFrame = window !== window.parent;
        if (!kvsim.confined()) save(file, blob);
        if (inFrame || kvsim.confined()) notice.after(await shown(file, kind, blob));
        say(kvsim.confined() ? "take_not_saved" : inFrame ? "take_framed" : "take_saved", { file });
      } catch (error) {
        say("take_failed", { file, reason: error.message });
      }
    }

    /** A file's name, without its ending: the figure, another server's title, and the value of every
        control. */
    name(figure) {
      if (figure === "measured") return "kvsim-measured"; // the paper's settings, and no others
      const { title } = this.now().atlas;
      const parts = title ? [asFileName(title)] : [];
      parts.push(...this.settings().map(([key, value]) => `${key}-${value}`));
      if (figure === "cache") parts.push(`t-${this.stage.player.time.toFixed(1)}`);
      return [`kvsim-${figure}`, ...parts].join("_");
    }

    /** The key and the value of every control that is heeded, as a link has them. */
    settings() {
      const { settings } = this.now().reading;
      return this.controls.heeded.map(({ name, key }) => [key, settings[name]]);
    }

    async blob(figure, kind) {
      if (kind === "csv") return new Blob([this.csv(figure)], { type: `${TYPES.csv};charset=utf-8` });
      const picture = kvsim.compose(await this.picture(figure));
      if (kind === "svg") return new Blob([picture.text], { type: TYPES.svg });
      return kvsim.asPng(picture);
    }

    /** What a picture is composed of: see kvsim.compose. */
    async picture(figure) {
      const now = this.now();
      const heading = (selector) => document.querySelector(selector).textContent.trim();
      const settings = this.controls.heeded
        .map((control) => `${control.label}: ${control.shown[this.controls.index(control.name)]}`)
        .join("; ");
      const { seed } = now.known;
      if (figure === "measured") {
        return {
          title: heading("#measured-heading"),
          parts: [{ svg: kvsim.measuredAsSvg() }],
          sentences: [heading(".measured-intro"), `kvsim ${this.version}`],
        };
      }
      const from = [
        ...this.whoseFigures(),
        now.known.assumptions,
        this.words.fill("take_settings", { settings, version: this.version, seed }),
      ];
      if (figure === "cache") {
        return {
          title: heading("#cache-figure h3"),
          parts: KINDS.map((kind) => ({
            heading: `${heading(`#cache-${kind}-heading .${kind}`)}: ${heading(`#counts-${kind}`)}`,
            colour: kind,
            canvas: document.getElementById(`cache-${kind}`),
          })),
          sentences: [heading("#cache-finding"), ...from],
        };
      }
      return {
        title: heading(`#${figure}-figure h3`),
        parts: [{ svg: await kvsim.chartAsSvg(figure, this.items, this.words, now) }],
        sentences: [heading(`#${figure}-figure figcaption`), ...from],
      };
    }

    /** The sentence about another server, if one is shown. */
    whoseFigures() {
      const { sentence } = this.whose;
      return sentence ? [sentence] : [];
    }

    /** A figure's numbers, unrounded; lines that begin with # say what they are of. */
    csv(figure) {
      const { known } = this.now();
      const about = [`Running Out of Cache, kvsim ${this.version}, seed ${known.seed}`];
      if (figure === "measured") {
        about.push(document.querySelector(".measured-intro").textContent);
      } else {
        const settings = this.settings().map(([key, value]) => `${key}=${value}`);
        about.push(`settings: ${settings.join(" ")}`);
        if (this.address()) about.push(`link: ${this.address()}`);
        about.push(...this.whoseFigures(), known.assumptions);
      }
      if (figure === "cache") about.push(`time_s: ${this.stage.player.time.toFixed(1)}`);
      const rows = this[`${figure}Rows`](this.now());
      return [...about.map((line) => `# ${line}`), ...rows.map((row) => row.join(","))].join("\n") + "\n";
    }

    capacityRows({ reading }) {
      return [
        ["allocation", "requests_that_fit", "share_of_reserved_cache_holding_tokens"],
        ...KINDS.map((kind) => [kind, reading[kind].requests, reading[kind].share]),
      ];
    }

    ttftRows({ atlas, reading }) {
      const [low, high] = atlas.constants.band.map((share) => `p${Math.round(100 * share)}`);
      const columns = [`ttft_${low}_s`, "ttft_median_s", `ttft_${high}_s`, "sustained_per_s", "binds"];
      return [
        ["request_rate_per_s", ...KINDS.flatMap((kind) => columns.map((column) => `${kind}_${column}`))],
        ...atlas.axes.rate.map((rate, index) => [
          rate,
          ...KINDS.flatMap((kind) => [
            ...reading[kind].curve[index],
            reading[kind].sustained,
            // What binds is found out by serving with twice of each; that may be still to come.
            Number.isNaN(reading[kind].doubled[0])
              ? NaN
              : kvsim.binding(reading[kind].saved[index])
                  .map((place) => kvsim.RESOURCES[place])
                  .join("+") || "none",
          ]),
        ]),
      ];
    }

    measuredRows() {
      return kvsim.measuredRows(this.words.templates.decimal_mark);
    }

    cacheRows({ reading }) {
      const rows = [["allocation", "part", "tokens", "share_of_cache", "running", "waiting"]];
      for (const kind of KINDS) {
        const { parts, running, waiting } = this.stage.moment(kind);
        for (const [part, tokens] of Object.entries(parts)) {
          rows.push([kind, part, tokens, tokens / reading.capacity, running, waiting]);
        }
      }
      return rows;
    }
  };

  /** Whether the page stands in a frame that keeps it from having an origin, as a sandbox does: then
      it may neither save files nor print. */
  kvsim.confined = function () {
    if (window === window.parent) return false;
    try {
      return !window.sessionStorage;
    } catch {
      return true;
    }
  };

  /** A text as part of a file's name: whatever it holds, only letters and digits of it. */
  function asFileName(text) {
    return text.replace(/[^a-z0-9.]+/gi, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, MOST_CHARACTERS);
  }

  function save(file, blob) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  /** The file, to be copied by hand: a text to be selected, or a picture. */
  async function shown(file, kind, blob) {
    const made = document.createElement(kind === "png" ? "img" : "textarea");
    made.className = "taken";
    if (kind === "png") {
      made.alt = file;
      made.src = await asDataAddress(blob);
    } else {
      made.readOnly = true;
      made.setAttribute("aria-label", file);
      made.value = await blob.text();
      made.addEventListener("focus", () => made.select());
    }
    return made;
  }

  function asDataAddress(blob) {
    return new Promise((resolve, reject) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result);
      reader.onerror = () => reject(reader.error);
      reader.readAsDataURL(blob);
    });
  }
})((window.kvsim ??= {}));
