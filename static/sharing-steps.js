/* The figure of shared blocks: goes through the steps of a story, and says what happens in each. */
(function (kvsim) {
  "use strict";

  const STEP_MS = 1800;
  const byId = (id) => document.getElementById(id);

  kvsim.SharingSteps = class {
    /** `story` holds the frames of all stories; see app/sections/sharing_figure.py. */
    constructor(story, words) {
      this.story = story;
      this.words = words;
      this.drawing = new kvsim.SharingDrawing(byId("sharing-drawing"), story, words);
      this.back = byId("sharing-back");
      this.next = byId("sharing-next");
      this.play = byId("sharing-play");
      this.range = byId("sharing-step");
      this.back.addEventListener("click", () => this.stop(this.place - 1));
      this.next.addEventListener("click", () => this.stop(this.place + 1));
      this.play.addEventListener("click", () => this.run());
      this.range.addEventListener("input", () => this.stop(this.range.valueAsNumber));
      const calm = matchMedia("(prefers-reduced-motion: reduce)");
      const allow = () => {
        this.stop(this.place);
        this.play.hidden = calm.matches;
      };
      calm.addEventListener("change", allow);
      this.play.hidden = calm.matches;
    }

    /** Tell the story of these settings, from its most telling step. */
    tell({ samples, system_tokens, keep_prefixes }) {
      const key = [samples, Number(system_tokens > 0), keep_prefixes];
      if (String(key) === this.told) return;
      this.told = String(key);
      this.steps = kvsim.sharingSteps(this.story, ...key);
      this.range.max = this.steps.length - 1;
      this.drawing.prepare(this.steps);
      this.stop(kvsim.tellingStep(this.steps));
    }

    get last() {
      return this.steps.length - 1;
    }

    /** Go on by itself, from the beginning if it stands at the end; or stop doing so. */
    run() {
      if (this.timer) {
        this.stop(this.place);
        return;
      }
      this.play.textContent = this.words.fill("pause", {});
      if (this.place >= this.last) this.go(0);
      this.timer = setInterval(() => {
        if (document.hidden) return;
        if (this.place + 1 >= this.last) this.stop(this.last);
        else this.go(this.place + 1);
      }, STEP_MS);
    }

    /** Go to a step and stay there. */
    stop(place) {
      clearInterval(this.timer);
      this.timer = 0;
      this.play.textContent = this.words.fill("play", {});
      if (this.steps) this.go(Math.min(Math.max(place, 0), this.last));
    }

    go(place) {
      const { words, story } = this;
      this.place = place;
      const step = this.steps[place];
      const sentence = words.fill(step.step, step.values);
      const shown = words.fill("sharing_step_of", { step: place + 1, steps: this.steps.length });
      this.range.value = place;
      this.range.setAttribute("aria-valuetext", shown);
      byId("sharing-step-shown").textContent = shown;
      // Not disabled: a button that is loses the focus.
      this.back.setAttribute("aria-disabled", place === 0);
      this.next.setAttribute("aria-disabled", place === this.last);
      kvsim.sayOnce(byId("sharing-sentence"), sentence);
      const used = words.fill("sharing_blocks_used", step);
      byId("sharing-used").textContent = used;
      const label = words.fill("sharing_drawing", { blocks: story.blocks, sentence, used });
      this.drawing.show(step, label);
      this.showRegions(step);
      this.showTables(step);
    }

    showRegions({ regions, waiting }) {
      const { words, story } = this;
      const shown = regions.map(({ name, tokens }) => {
        const region = document.createElement("div");
        region.className = name ? "region" : "region region-free";
        const label = document.createElement("b");
        label.textContent = name ?? "";
        const filled = document.createElement("i");
        filled.style.width = `${(100 * tokens) / story.region_tokens}%`;
        region.append(filled, label);
        return region;
      });
      const queue = waiting.map((name) => {
        const mark = document.createElement("span");
        mark.textContent = name;
        return mark;
      });
      byId("sharing-regions").replaceChildren(...shown, ...queue);
      const used = regions.filter(({ name }) => name).length;
      const sentence = waiting.length ? "sharing_regions_wait" : "sharing_regions_none";
      byId("sharing-waiting").textContent = words.fill(sentence, {
        used,
        regions: story.regions,
        waiting: waiting.join(", "),
      });
    }

    showTables(step) {
      const { words } = this;
      kvsim.fillRows(
        "sharing-table-of-tables",
        Object.entries(step.tables).map(([name, held]) => ({ cells: [name, held.join(", ")] })),
      );
      const holders = kvsim.sharingHolders(step);
      const rows = step.blocks
        .map(({ count, filled, kept }, block) => ({ block, count, filled, kept }))
        .filter(({ count, kept }) => count > 0 || kept)
        .map(({ block, count, filled }) => ({
          cells: [
            String(block),
            words.fill("filled_of", { filled, unit: this.story.block_size }),
            String(count),
            holders[block].join(", ") || words.fill("sharing_nobody", {}),
          ],
        }));
      kvsim.fillRows("sharing-table-of-blocks", rows);
    }
  };
})((window.kvsim ??= {}));
