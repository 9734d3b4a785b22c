/* Pictures: a figure as a drawing of its own, with its heading, what it shows and where it is from. */
(function (kvsim) {
  "use strict";

  const MARGIN_PX = 20;
  const LEAST_WIDTH_PX = 440;
  const TEXT_PX = 15;
  const HEADING_PX = 18;
  const SCALE = 2; // of a PNG, so that it can be printed
  const SVG = "http://www.w3.org/2000/svg";

  /** A chart as an SVG element, drawn afresh by Bokeh at the size that it has on the page. `items`
      and `words` are those of kvsim.Charts, `now` is {atlas, reading, known}. */
  kvsim.chartAsSvg = async function (name, items, words, now) {
    const desk = document.createElement("div");
    desk.setAttribute("aria-hidden", "true");
    desk.style.cssText = "position: fixed; left: -10000px; top: 0";
    document.body.append(desk);
    const place = (each) => {
      const box = document.createElement("div");
      const { width, height } = document.getElementById(`${each}-chart`).getBoundingClientRect();
      box.className = "chart";
      box.style.cssText = `width: ${width}px; height: ${height}px`;
      desk.append(box);
      return box;
    };
    const charts = new kvsim.Charts(inSvg(items), words);
    const before = new Set(document.body.children);
    try {
      await charts.embed(place);
      charts.update(now.atlas, now.reading, now.known);
      await charts.repaint();
      return charts.views[name].export("svg", false).canvas.cloneNode(true);
    } finally {
      charts.remove();
      desk.remove();
      // Bokeh keeps a place for notifications for each document that there ever was.
      for (const each of document.querySelectorAll("body > .bk-Notifications")) {
        if (!before.has(each)) each.remove();
      }
    }
  };

  function inSvg(items) {
    const copies = structuredClone(items);
    for (const { doc } of Object.values(copies)) doc.roots[0].attributes.output_backend = "svg";
    return copies;
  }

  /** A drawing of `parts`, one below the other, each {heading, svg} or {heading, canvas}, under a
      title and above some sentences. Returns the text of the SVG, its size, and where canvases go:
      they are painted over it, for SVG holds no pixels. */
  kvsim.compose = function ({ title, parts, sentences }) {
    const sizes = parts.map(sizeOf);
    const inner = Math.max(LEAST_WIDTH_PX, ...sizes.map(({ width }) => width));
    const width = Math.ceil(inner + 2 * MARGIN_PX);
    const drawing = kvsim.svgElement("svg", {});
    const serif = getComputedStyle(document.documentElement).fontFamily;
    const canvases = [];
    let y = MARGIN_PX;
    const write = (text, size, colour) => {
      for (const line of broken(text, inner, `${size}px ${serif}`)) {
        y += Math.round(size * 1.3);
        drawing.append(kvsim.svgElement("text", { x: MARGIN_PX, y, "font-size": size, fill: kvsim.colour(colour) }, line));
      }
    };
    write(title, HEADING_PX, "ink");
    parts.forEach(({ heading, colour, svg, canvas }, index) => {
      if (heading) write(heading, TEXT_PX, colour);
      y += 10;
      if (svg) {
        svg.setAttribute("x", MARGIN_PX);
        svg.setAttribute("y", y);
        drawing.append(svg);
      } else {
        canvases.push({ canvas, x: MARGIN_PX, y, ...sizes[index] });
      }
      y += sizes[index].height + 4;
    });
    for (const sentence of sentences) write(sentence, TEXT_PX, "ink");
    const height = Math.ceil(y + MARGIN_PX);
    drawing.prepend(kvsim.svgElement("rect", { width, height, fill: kvsim.colour("paper") }));
    const attributes = { width, height, viewBox: `0 0 ${width} ${height}`, "font-family": serif };
    for (const [name, value] of Object.entries(attributes)) drawing.setAttribute(name, value);
    return { text: new XMLSerializer().serializeToString(drawing), width, height, canvases };
  };

  function sizeOf({ svg, canvas }) {
    if (svg) return { width: Number(svg.getAttribute("width")), height: Number(svg.getAttribute("height")) };
    const { width, height } = canvas.getBoundingClientRect();
    return { width, height };
  }

  /** An element of an SVG drawing. */
  kvsim.svgElement = function (name, attributes, text = "") {
    const made = document.createElementNS(SVG, name);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
    made.textContent = text;
    return made;
  };

  /** A text in lines that are no wider than so many pixels. */
  function broken(text, width, font) {
    const context = document.createElement("canvas").getContext("2d");
    context.font = font;
    const lines = [""];
    for (const word of text.split(" ")) {
      const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
      if (context.measureText(longer).width <= width || !lines.at(-1)) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines;
  }

  /** A composed drawing as pixels: a PNG's Blob. */
  kvsim.asPng = async function ({ text, width, height, canvases }) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = width * SCALE;
    canvas.height = height * SCALE;
    const context = canvas.getContext("2d");
    context.scale(SCALE, SCALE);
    context.drawImage(image, 0, 0, width, height);
    context.imageSmoothingEnabled = false;
    for (const each of canvases) context.drawImage(each.canvas, each.x, each.y, each.width, each.height);
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  };
})((window.kvsim ??= {}));
