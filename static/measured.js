/* The paper's figure, to be taken away: its bars as SVG and its shares as rows, read from the page,
   where they are boxes and a table. */
(function (kvsim) {
  "use strict";

  const WIDTH_PX = 640;
  const BAR = { left: 80, right: 70, height: 22 }; // what is beside a bar, and how high it is
  const TEXT_PX = 14;
  const BASELINE_PX = 16; // of a text in a bar
  const PARTS = ["token_states", "reserved", "internal", "rest"];

  /** The bars, one below the other, in the page's colours. */
  kvsim.measuredAsSvg = function () {
    const drawing = kvsim.svgElement("svg", { width: WIDTH_PX });
    let y = 0;
    const write = (text, x, colour, options = {}) =>
      drawing.append(
        kvsim.svgElement("text", { x, y: y + BASELINE_PX, "font-size": TEXT_PX, fill: kvsim.colour(colour), ...options }, text),
      );
    for (const kind of ["contiguous", "paged"]) drawing.append(hatching(kind));
    for (const system of document.querySelectorAll(".measured-system")) {
      const kind = system.classList.contains("of-paged") ? "paged" : "contiguous";
      write(system.querySelector(".measured-name span").textContent, 0, kind);
      const head = system.querySelector(".measured-head");
      if (head) write(head.textContent, WIDTH_PX, "ink-soft", { "text-anchor": "end" });
      y += BAR.height;
      for (const row of system.querySelectorAll(".measured-row")) {
        const labels = [...row.querySelectorAll(".measured-labels span")];
        if (labels.length) {
          write(labels.map((label) => label.textContent).join(" · "), BAR.left, "ink-soft");
          y += BAR.height;
        }
        write(row.querySelector(".measured-source").textContent, 0, "ink-soft");
        write(row.querySelector(".measured-batch").textContent, WIDTH_PX, "ink", { "text-anchor": "end" });
        drawing.append(...bar(row, kind, y));
        y += BAR.height + 3;
      }
      y += 8;
    }
    drawing.setAttribute("height", y);
    return drawing;
  };

  /** One bar: its parts in proportion, each with its number where there is room for it. */
  function bar(row, kind, y) {
    const full = WIDTH_PX - BAR.left - BAR.right;
    const parts = [...row.querySelectorAll(".measured-parts > i:not(.measured-mark)")];
    const whole = parts.reduce((sum, part) => sum + Number(part.style.flexGrow), 0);
    const fills = {
      token_states: kvsim.colour(kind),
      reserved: kvsim.colour(`${kind}-soft`),
      internal: `url(#hatch-${kind})`,
      rest: kvsim.colour("free"),
    };
    const mark = row.querySelector(".measured-mark"); // from the least to the greatest run
    const least = mark && (full * parseFloat(mark.style.left)) / 100;
    const length = mark && (full * parseFloat(mark.style.width)) / 100;
    const under = { y: y + BAR.height - 2, height: 4, fill: kvsim.colour("ink") };
    let x = BAR.left;
    const drawn = parts.flatMap((part) => {
      const name = PARTS.find((each) => part.classList.contains(`fill-${each}`));
      const width = (full * Number(part.style.flexGrow)) / whole;
      const pieces = [kvsim.svgElement("rect", { x, y, width, height: BAR.height, fill: fills[name] })];
      if (width > 30) {
        const fill = kvsim.colour(name === "token_states" ? "paper" : "ink");
        const text = { x: x + 4, y: y + BASELINE_PX, "font-size": TEXT_PX, fill };
        if (name === "internal") {
          const behind = { x: x + 2, y: y + 2, width: 32, height: BAR.height - 4 };
          pieces.push(kvsim.svgElement("rect", { ...behind, fill: kvsim.colour(`${kind}-empty`) }));
        }
        pieces.push(kvsim.svgElement("text", text, part.textContent));
      }
      x += width;
      return pieces;
    });
    if (mark) drawn.push(kvsim.svgElement("rect", { ...under, x: BAR.left + least, width: length }));
    return drawn;
  }

  function hatching(kind) {
    const size = { width: 4, height: 4, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
    const pattern = kvsim.svgElement("pattern", { id: `hatch-${kind}`, ...size });
    pattern.append(
      kvsim.svgElement("rect", { width: 4, height: 4, fill: kvsim.colour(`${kind}-empty`) }),
      kvsim.svgElement("rect", { width: 1, height: 4, fill: kvsim.colour(`${kind}-tint`) }),
    );
    return pattern;
  }

  /** The table of shares as rows of numbers; `decimalMark` is the page's. */
  kvsim.measuredRows = function (decimalMark) {
    const rows = document.querySelectorAll("#shares-table tr[data-system]:not([data-source=spread])");
    return [
      ["system", "source", ...PARTS.map((part) => `${part}_percent`), "mean_batch"],
      ...[...rows].map((row) => [
        row.dataset.system,
        row.dataset.source,
        ...[...row.querySelectorAll("td")].map((cell) => cell.textContent.replace(decimalMark, ".")),
      ]),
    ];
  };
})((window.kvsim ??= {}));
