/* The ledger under each drawing: a bar of the cache's parts, their shares, and who waits. */
(function (kvsim) {
  "use strict";

  const MARK_PX = 3;

  kvsim.Ledger = class {
    /** Of one allocation; its places in the page are made here. */
    constructor(kind, words) {
      this.kind = kind;
      this.words = words;
      this.bar = document.getElementById(`parts-${kind}`);
      this.key = document.getElementById(`key-${kind}`);
      this.queue = document.getElementById(`queue-${kind}`);
      this.counts = document.getElementById(`counts-${kind}`);
    }

    /** Show the parts of the cache in tokens (as kvsim.Replay gives them), and two counts. */
    show({ parts, running, waiting }, capacity) {
      const { words, kind } = this;
      const shown = Object.entries(parts).filter(([name, tokens]) => tokens > 0 || (name === "tokens" && tokens === 0));
      this.fill(this.bar, shown.length, "i");
      this.fill(this.key, shown.length, "li");
      shown.forEach(([name, tokens], index) => {
        const segment = this.bar.children[index];
        segment.className = `swatch-${name}`;
        segment.style.flexGrow = tokens || 0;
        const entry = this.key.children[index];
        const share = words.percent(tokens / capacity);
        if (!entry.firstChild) {
          entry.append(document.createElement("i"), document.createElement("span"));
          entry.firstChild.setAttribute("aria-hidden", "true");
        }
        entry.firstChild.className = `swatch swatch-${name}`;
        entry.lastChild.textContent = words.fill(`part_${name}`, { share });
      });
      this.counts.textContent = words.fill(Number.isNaN(running) ? "not_computed" : "counts", {
        running: words.count(running),
        waiting: words.count(waiting),
      });
      // One mark for each who waits; where they do not fit, the row is full and the count says it.
      this.queue.style.width = `${(waiting || 0) * MARK_PX}px`;
    }

    fill(list, count, tag) {
      while (list.children.length > count) list.lastChild.remove();
      while (list.children.length < count) list.append(document.createElement(tag));
    }
  };
})((window.kvsim ??= {}));
