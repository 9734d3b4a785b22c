/* The drawing of a step: block tables at the left, lines to the blocks that they name. */
(function (kvsim) {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const ROW = 22; // of a table
  const BLOCK_HEIGHT = 38;
  const BETWEEN = 8; // blocks of one row
  const WIDE = 640;

  function element(name, attributes, ...children) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  const text = (content, attributes) => element("text", attributes, content);

  /** The class that tints what belongs to these samples: to one request, or to several. */
  function tintOf(holders) {
    const requests = new Set(holders.map((name) => name[0]));
    if (requests.size === 0) return "nobody";
    return requests.size > 1 ? "several" : `request-${[...requests][0]}`;
  }

  kvsim.SharingDrawing = class {
    /** In an element of the page, whose width it follows. */
    constructor(place, story, words) {
      this.place = place;
      this.story = story;
      this.words = words;
      new ResizeObserver(() => this.shown && this.paint()).observe(place);
    }

    /** Keep room for all of these steps: the drawing has one size for them. */
    prepare(steps) {
      const tables = steps.map((step) => Object.values(step.tables));
      this.most = Math.max(...tables.map((each) => each.length));
      this.longest = Math.max(...tables.flat().map((held) => held.length));
    }

    /** Draw a step; `label` is its text alternative. */
    show(step, label) {
      this.shown = step;
      this.label = label;
      this.paint();
    }

    /** Measures of the drawing at the width of its place. */
    measures() {
      const width = Math.max(Math.floor(this.place.clientWidth), 280);
      const wide = width >= WIDE;
      const columns = wide ? 8 : 4;
      const entry = wide ? 21 : 18;
      const name = wide ? 26 : 22; // where a table's first entry begins
      const tablesWidth = name + this.longest * entry;
      const pitch = wide ? 3 : 1.5; // from one table's lines to the next one's
      const left = tablesWidth + this.most * pitch + (wide ? 24 : 10);
      const gap = this.most * pitch + 12; // above each row of blocks, where lines run
      const blockWidth = Math.min((width - left - 2 - (columns - 1) * BETWEEN) / columns, 104);
      const rows = Math.ceil(this.story.blocks / columns);
      const height = Math.max(this.most * ROW + 4, rows * (BLOCK_HEIGHT + gap) + 4);
      const at = (block) => ({
        x: left + (block % columns) * (blockWidth + BETWEEN),
        y: Math.floor(block / columns) * (BLOCK_HEIGHT + gap) + gap,
      });
      return { width, height, wide, columns, name, entry, tablesWidth, pitch, blockWidth, at };
    }

    paint() {
      const { shown } = this;
      const size = this.measures();
      const holders = kvsim.sharingHolders(shown);
      const names = Object.keys(shown.tables);
      // Changed ones last, over the others.
      const order = names
        .map((name, row) => ({ name, row, changed: shown.changed.includes(name) }))
        .sort((one, other) => one.changed - other.changed);
      const drawing = element(
        "svg",
        {
          width: size.width,
          height: size.height,
          viewBox: `0 0 ${size.width} ${size.height}`,
          role: "img",
          "aria-label": this.label,
          ...(size.wide ? {} : { class: "narrow" }),
        },
        element(
          "g",
          {},
          ...shown.blocks.map((block, number) =>
            this.block(block, number, size.at(number), size.blockWidth, tintOf(holders[number])),
          ),
        ),
        element("g", {}, ...order.map((table) => this.wires(table, size))),
        element("g", {}, ...names.flatMap((name, row) => this.table(name, row, size))),
        element(
          "g",
          {},
          ...shown.copies.map(({ block, source }) =>
            arrow(size.at(source), size.at(block), size.blockWidth),
          ),
        ),
      );
      this.place.replaceChildren(drawing);
    }

    /** A table: its name, and the numbers of its blocks in order. */
    table(name, row, size) {
      const y = row * ROW + 2;
      const parts = [text(name, { x: 0, y: y + 14, class: "name" })];
      this.shown.tables[name].forEach((block, index) => {
        const x = size.name + index * size.entry;
        parts.push(
          element("rect", { x, y, width: size.entry, height: ROW - 4, class: "entry" }),
          text(block, { x: x + size.entry / 2, y: y + 14, class: "entry-number" }),
        );
      });
      return parts;
    }

    /** A table's lines: out to a track of its own, along the rows, and down into each block. */
    wires({ name, row, changed }, size) {
      const { tablesWidth, pitch, blockWidth, columns, at } = size;
      const held = this.shown.tables[name];
      const track = tablesWidth + 6 + row * pitch;
      const from = row * ROW + ROW / 2;
      const start = size.name + held.length * size.entry;
      const path = [];
      const byRow = new Map();
      for (const block of held) {
        const line = Math.floor(block / columns);
        byRow.set(line, [...(byRow.get(line) ?? []), block]);
      }
      for (const blocks of byRow.values()) {
        const { y } = at(blocks[0]);
        const lane = y - 6 - row * pitch;
        const drops = blocks.map((block) => at(block).x + 5 + ((row + 0.5) * (blockWidth - 10)) / this.most);
        path.push(`M${start} ${from} H${track} V${lane} H${Math.max(...drops)}`);
        for (const drop of drops) path.push(`M${drop} ${lane} V${y}`);
      }
      return element("path", {
        d: path.join(" "),
        class: `wire wire-${name[0]}${changed ? " changed" : ""}`,
      });
    }

    block({ count, filled, kept }, number, { x, y }, width, tint) {
      const { block_size } = this.story;
      const { shown, words } = this;
      const state = count > 0 ? "held" : kept ? "kept" : "free";
      const fresh = shown.taken.has(number) || shown.copies.some(({ block }) => block === number);
      const cell = (width - 6) / block_size;
      const group = element(
        "g",
        { class: `block ${state} tint-${tint}${fresh ? " fresh" : ""}`, "data-block": number },
        element("rect", { x, y, width, height: BLOCK_HEIGHT, class: "frame" }),
        text(number, { x: x + 4, y: y + 14, class: "number" }),
      );
      const counted = count > 0 ? `×${count}` : kept ? words.fill("sharing_kept_block", {}) : "";
      group.append(text(counted, { x: x + width - 4, y: y + 14, class: "count" }));
      for (let token = 0; token < block_size; token++) {
        group.append(
          element("rect", {
            x: x + 3 + token * cell + 1,
            y: y + BLOCK_HEIGHT - 19,
            width: cell - 2,
            height: 16,
            class: token < filled && state !== "free" ? "token" : "room",
          }),
        );
      }
      return group;
    }
  };

  /** From a block to the copy of it: through the gap below. */
  function arrow(source, copy, width) {
    const from = { x: source.x + width / 2, y: source.y + BLOCK_HEIGHT };
    const beside = copy.y === source.y;
    const to = { x: copy.x + width / 2, y: beside ? copy.y + BLOCK_HEIGHT : copy.y };
    const sag = beside ? from.y + 24 : (from.y + to.y) / 2;
    const back = beside ? 8 : -8;
    const tip = `M${to.x - 5} ${to.y + back} L${to.x} ${to.y} L${to.x + 5} ${to.y + back}`;
    return element("path", {
      d: `M${from.x} ${from.y} C${from.x} ${sag} ${to.x} ${sag} ${to.x} ${to.y} ${tip}`,
      class: "copy",
      pathLength: 1,
    });
  }
})((window.kvsim ??= {}));
