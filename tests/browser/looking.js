/* What the tests ask of a page: its live words, its charts' data, and what is really painted. */
window.looking = {
  /** The text of every live element, by key; keys stand in several places, so each has a list. */
  words() {
    const words = {};
    for (const element of document.querySelectorAll("[data-live]")) {
      (words[element.dataset.live] ??= []).push(element.textContent);
    }
    return words;
  },

  /** Keys of live elements that do not say what they should. */
  wrongWords(wanted) {
    return [...document.querySelectorAll("[data-live]")]
      .filter((element) => element.textContent !== wanted[element.dataset.live])
      .map((element) => element.dataset.live);
  },

  /** The columns of every named data source; NaN is null. */
  sources() {
    const sources = {};
    for (const chart of Bokeh.documents) {
      for (const model of chart._all_models.values()) {
        if (model.type !== "ColumnDataSource" || !model.name) continue;
        sources[model.name] = Object.fromEntries(
          Object.entries(model.data).map(([name, column]) => [
            name,
            Array.from(column, (value) => (Number.isNaN(value) ? null : value)),
          ]),
        );
      }
    }
    return sources;
  },

  /** All canvases below an element, those in shadow trees too. */
  canvases(id) {
    const within = (root) => [
      ...root.querySelectorAll("canvas"),
      ...[...root.querySelectorAll("*")].flatMap((each) => (each.shadowRoot ? within(each.shadowRoot) : [])),
    ];
    const element = document.getElementById(id);
    return element instanceof HTMLCanvasElement ? [element] : within(element);
  },

  /** The pixels of everything drawn below an element, laid over each other, as 32-bit colours. */
  pixels(id) {
    const layers = this.canvases(id).filter((canvas) => canvas.width && canvas.height);
    if (!layers.length) return new Uint32Array();
    const width = Math.max(...layers.map((layer) => layer.width));
    const height = Math.max(...layers.map((layer) => layer.height));
    const context = new OffscreenCanvas(width, height).getContext("2d");
    for (const layer of layers) context.drawImage(layer, 0, 0);
    return new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
  },

  /** A number that differs when a pixel does (FNV-1a). */
  picture(id) {
    let hash = 2166136261;
    for (const pixel of this.pixels(id)) hash = Math.imul(hash ^ pixel, 16777619);
    return hash >>> 0;
  },

  /** How many colours are painted below an element; an empty canvas has one. */
  colours(id) {
    return new Set(this.pixels(id)).size;
  },

  /** Mean brightness, 0 to 1, of what is opaque below an element. */
  brightness(id) {
    let sum = 0;
    let count = 0;
    for (const pixel of this.pixels(id)) {
      if (pixel >>> 24 < 200) continue;
      sum += (pixel & 255) + ((pixel >>> 8) & 255) + ((pixel >>> 16) & 255);
      count++;
    }
    return sum / count / 765;
  },

  /** The pixels of a cache's drawing in order of address, without the gaps between its lines:
      each colour that follows on another, and for how many pixels. */
  strip(id, line, pitch) {
    const { width, height } = document.getElementById(id);
    const pixels = this.pixels(id);
    const [colours, lengths] = [[], []];
    for (let top = 0; top + line <= height; top += pitch) {
      for (let x = 0; x < width; x++) {
        for (let y = top; y < top + line; y++) {
          const colour = pixels[y * width + x];
          if (colour === colours.at(-1)) {
            lengths[lengths.length - 1]++;
          } else {
            colours.push(colour);
            lengths.push(1);
          }
        }
      }
    }
    return [colours, lengths];
  },

  /** A colour of the style sheet as such a pixel. */
  pixelOf(name) {
    const context = new OffscreenCanvas(1, 1).getContext("2d");
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
    context.fillRect(0, 0, 1, 1);
    return new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0];
  },

  /** The element that has the focus, also within shadow trees: the ids from the outside in. */
  focused() {
    const path = [];
    for (let at = document.activeElement; at; at = at.shadowRoot?.activeElement) {
      path.push(at.id || at.className || at.tagName.toLowerCase());
    }
    return path;
  },
};
