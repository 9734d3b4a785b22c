/* Strips below the right chart: which limits bind at each rate, in a lane for each resource. */
(function (kvsim) {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const KINDS = ["contiguous", "paged"];
  const LETTERS = ["M", "A", "B"]; // memory, arithmetic, bandwidth
  const LANE_PX = 8;
  const LABEL_PX = 14;
  const STRIP_PX = LABEL_PX + LETTERS.length * LANE_PX + 3;

  kvsim.LimitStrips = class {
    constructor(charts, words) {
      this.charts = charts;
      this.words = words;
      this.place = document.getElementById("limit-strips");
      this.height = KINDS.length * STRIP_PX;
      // On paper, which is narrower, the strips are pressed together if the chart is.
      this.drawing = element("svg", {
        role: "img",
        height: this.height,
        preserveAspectRatio: "none",
      });
      this.place.append(this.drawing);
    }

    update(reading, known) {
      this.rates = reading.rates;
      this.half = (this.rates[1] - this.rates[0]) / 2;
      const { left, width } = this.drawing.getBoundingClientRect();
      this.drawing.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
      this.place.style.setProperty("--screen-width", `${width}px`); // on paper it is the chart's
      const axis = this.charts.rateAxis();
      // Each rate has a cell, as wide as the distance to its neighbour, below its place in the chart.
      this.x = (rate) => axis.position(rate) - left;
      const chosen = this.x(reading.settings.rate);
      this.drawing.replaceChildren(
        ...KINDS.flatMap((kind, row) => this.strip(kind, row * STRIP_PX, reading[kind].saved)),
        element("line", {
          class: "strip-chosen",
          x1: chosen,
          x2: chosen,
          y1: 0,
          y2: KINDS.length * STRIP_PX,
        }),
        ...KINDS.map((kind, row) => this.name(kind, row * STRIP_PX)),
      );
      this.drawing.setAttribute("aria-label", this.words.fill("strip_label", known));
    }

    name(kind, top) {
      const x = this.x(this.rates[0] - this.half);
      const name = this.words.fill(`strip_${kind}`, {});
      return text(`strip-name ${kind}`, x, top + LABEL_PX - 3, name);
    }

    strip(kind, top, saved) {
      const [first, last] = [this.rates[0] - this.half, this.rates[this.rates.length - 1] + this.half];
      const bound = saved.map(kvsim.binding);
      const parts = [];
      LETTERS.forEach((letter, place) => {
        const y = top + LABEL_PX + place * LANE_PX;
        parts.push(
          text("strip-letter", this.x(first) - 5, y + LANE_PX, letter),
          element("line", {
            class: "strip-lane",
            x1: this.x(first),
            x2: this.x(last),
            y1: y + LANE_PX,
            y2: y + LANE_PX,
          }),
        );
        for (const [from, to] of runs(bound.map((places) => places.includes(place)))) {
          const [start, end] = [this.x(this.rates[from] - this.half), this.x(this.rates[to] + this.half)];
          parts.push(
            element("rect", {
              class: `strip-bound of-${kind}`,
              "data-resource": letter,
              "data-rates": `${this.rates[from]}-${this.rates[to]}`,
              x: start,
              y: y + 1,
              width: end - start,
              height: LANE_PX - 2,
            }),
          );
        }
      });
      return parts;
    }
  };

  /** First and last places of each run of what is true. */
  function runs(flags) {
    const found = [];
    flags.forEach((flag, place) => {
      if (!flag) return;
      const latest = found[found.length - 1];
      if (latest?.[1] === place - 1) latest[1] = place;
      else found.push([place, place]);
    });
    return found;
  }

  function element(name, attributes) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  function text(name, x, y, content) {
    const made = element("text", { class: name, x, y });
    made.textContent = content;
    return made;
  }
})((window.kvsim ??= {}));
