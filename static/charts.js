/* The two Bokeh charts: puts them into the page, fills their sources, paints their colours. */
(function (kvsim) {
  "use strict";

  const KINDS = ["contiguous", "paged"];
  const SUSTAINED_ROWS_S = { contiguous: 0.0022, paged: 0.0005 }; // strip below the least TTFT

  const NEAR_THE_TOP_S = 150;
  const WIDTH_OF_LETTER_PX = 8; // of bold text, generously
  const PROMISES_TO_PAINT = 100; // many more than Bokeh's chain has links

  kvsim.Charts = class {
    /** `items` are the charts as Bokeh's json_item, by name; `words` formats the labels. */
    constructor(items, words) {
      this.items = items;
      this.words = words;
    }

    /** Put the charts into the page, each into its element, or where `placeOf` says. */
    async embed(placeOf = (name) => document.getElementById(`${name}-chart`)) {
      this.views = {};
      for (const [name, item] of Object.entries(this.items)) {
        const place = placeOf(name);
        const manager = await Bokeh.embed.embed_item(item, place);
        this.views[name] = [...manager][0];
        place.setAttribute("role", "img");
        hideFromKeyboard(this.views[name]);
        clearToTheEdge(this.views[name]);
      }
      this.documents = Object.values(this.views).map((view) => view.model.document);
      this.repaint();
    }

    /** Take them out of the page and out of Bokeh's books. */
    remove() {
      for (const each of this.documents ?? []) {
        each.clear();
        Bokeh.documents.splice(Bokeh.documents.indexOf(each), 1);
      }
    }

    model(name) {
      for (const each of this.documents) {
        const found = each.get_model_by_name(name);
        if (found) return found;
      }
      throw new Error(`no model ${name}`);
    }

    fill(source, columns) {
      this.model(source).data = columns;
    }

    /** Show a reading of an atlas; `words` are the live words of the same position. */
    update(atlas, reading, words) {
      // The scale stays while sliders are dragged; another workload may need another.
      this.views.capacity.model.x_range.end = atlas.mostRequests;
      this.capacity(reading, words);
      this.scaleOf(atlas.axes.rate);
      this.ttft(reading, words, atlas.axes.rate);
      for (const name of Object.keys(this.views)) {
        document.getElementById(`${name}-chart`).setAttribute("aria-label", words[`chart_${name}`]);
      }
    }

    capacity(reading, words) {
      for (const kind of KINDS) {
        const { requests, share } = reading[kind];
        const [bottom, top] = this.model(`capacity_${kind}`).tags;
        this.fill(`capacity_${kind}`, {
          requests: [requests],
          filled: [bottom + share * (top - bottom)],
        });
        this.label(`capacity_label_${kind}`, {
          x: 0,
          y: top,
          dx: 0,
          dy: -12,
          align: "left",
          text: Number.isNaN(requests)
            ? this.words.fill("not_computed", {})
            : this.words.fill(`bar_${kind}`, words),
        });
      }
    }

    /** Another server has other rates: about four marks, at round numbers. */
    scaleOf(rates) {
      const most = rates[rates.length - 1];
      const { x_range, below } = this.views.ttft.model;
      x_range.end = most + most / 40; // room for the last point
      const power = 10 ** Math.floor(Math.log10(most / 4));
      const step = power * [1, 2, 5, 10].find((each) => each * power * 4 >= most);
      const ticks = Array.from({ length: Math.floor(most / step) + 1 }, (_, n) => Number((n * step).toPrecision(6)));
      if (String(below[0].ticker.ticks) !== String(ticks)) below[0].ticker.ticks = ticks;
    }

    ttft(reading, words, rates) {
      const chosen = reading.settings.rate;
      const most = rates[rates.length - 1];
      const higher = reading.contiguous.ttft[1] >= reading.paged.ttft[1] ? "contiguous" : "paged";
      const alike = words.contiguous_ttft === words.paged_ttft;
      this.fill("chosen_rate", { x: [chosen] });
      for (const kind of KINDS) {
        const { ttft, sustained, computed } = reading[kind];
        // Of a server that is still simulated the curve goes through the rates that are there.
        const there = rates.filter((_, index) => !Number.isNaN(reading[kind].curve[index][1]));
        const curve = reading[kind].curve.filter(([, median]) => !Number.isNaN(median));
        const median = curve.map((quantiles) => quantiles[1]);
        this.fill(`ttft_${kind}`, {
          rate: there,
          low: curve.map((quantiles) => quantiles[0]),
          high: curve.map((quantiles) => quantiles[2]),
          // The two styles meet at the last rate that is sustained.
          steady: median.map((y, index) => (there[index] > sustained ? NaN : y)),
          growing: median.map((y, index) => ((there[index + 1] ?? most) > sustained ? y : NaN)),
        });
        const name = !computed ? "" : alike ? (kind === higher ? "" : "point_both") : `point_${kind}`;
        const text = name && this.words.fill(name, words);
        this.label(`chosen_${kind}`, {
          rate: chosen,
          y: ttft[1],
          text,
          ...this.beside(chosen, text, kind === higher || alike, ttft[1]),
        });
        const late = sustained > 0.7 * most;
        this.label(`sustained_${kind}`, {
          x: Math.min(sustained, most),
          y: SUSTAINED_ROWS_S[kind],
          dx: late ? -10 : 10,
          dy: 0,
          align: late ? "right" : "left",
          text: Number.isNaN(sustained)
            ? ""
            : this.words.fill(`sustains${sustained > most ? "_beyond" : ""}_${kind}`, words),
        });
      }
    }

    /** Where a point's label hangs: curves rise to the right, so there is room above and before the
        higher one, and below and after the lower one, as far as the edges of the plot allow. */
    beside(rate, text, above, seconds) {
      const axis = this.rateAxis();
      const room = WIDTH_OF_LETTER_PX * text.length + 9;
      const before = axis.position(rate) - axis.position(0);
      const { end } = this.views.ttft.model.x_range;
      const after = axis.position(end) - axis.position(rate);
      const dy = above && seconds < NEAR_THE_TOP_S ? -14 : 15;
      if (above && before > room && rate > 0.3 * end) return { x: rate, dx: -9, dy, align: "right" };
      if (after > room) return { x: rate, dx: 9, dy, align: "left" };
      return { x: end, dx: 0, dy, align: "right" };
    }

    label(source, label) {
      const columns = Object.entries(label).map(([name, value]) => [name, [value]]);
      this.fill(source, Object.fromEntries(columns));
    }

    /** Give every model the colours that its tags name. */
    async repaint() {
      const views = Object.values(this.views);
      for (const { model: plot } of views) {
        for (const renderer of plot.renderers) {
          for (const tag of renderer.tags) {
            const [property, name] = tag.split(":");
            renderer.glyph[property] = { value: kvsim.colour(name) };
          }
        }
      }
      // Bokeh takes the colours over in a chain of promises, and paints a frame later. Printing
      // waits for promises but not for frames, so paint as soon as the chain has run.
      for (let step = 0; step < PROMISES_TO_PAINT; step++) await null;
      for (const view of views) view.paint();
    }

    /** The right chart's plotting area, and where rates lie along it, in pixels of the window. */
    rateAxis() {
      const { frame, el, model } = this.views.ttft;
      const { left, top } = el.getBoundingClientRect();
      const origin = left + frame.bbox.left;
      const perRate = frame.bbox.width / model.x_range.end;
      return {
        top: top + frame.bbox.top,
        position: (rate) => origin + rate * perRate,
        rate: (position) => (position - origin) / perRate,
      };
    }
  };

  /** Bokeh moves its drawings by half a pixel before it clears them: at the left and upper edges
      pieces of words that stood there before would stay. */
  function clearToTheEdge({ canvas_view }) {
    for (const layer of [canvas_view.primary, canvas_view.overlays]) {
      layer.clear = () => {
        layer.ctx.save();
        layer.ctx.resetTransform();
        layer.ctx.clearRect(0, 0, layer.canvas.width, layer.canvas.height);
        layer.ctx.restore();
      };
    }
  }

  /** Bokeh makes its canvas a tab stop, but nothing in these charts answers to a key. */
  function hideFromKeyboard(view) {
    for (const element of view.shadow_el.querySelectorAll("[tabindex]")) element.tabIndex = -1;
    view.canvas_view?.events_el?.setAttribute("tabindex", "-1");
  }
})((window.kvsim ??= {}));
