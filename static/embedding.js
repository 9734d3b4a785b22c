/* Embedding: the line that puts the plate, at these settings, into a page of one's own. */
(function (kvsim) {
  "use strict";

  kvsim.Embedding = class {
    /** Offers the page's parts and controls to choose from, and keeps the line up to date. */
    constructor(link, view, words) {
      this.link = link;
      this.view = view;
      this.address = document.querySelector("[data-address]");
      this.line = document.getElementById("embed-line");
      this.theme = document.getElementById("embed-theme");
      this.whole = document.getElementById("whole-plate");
      const parts = [...view.parts].filter(([, part]) => !("reading" in part.dataset));
      this.parts = offer("embed-parts", parts.map(([name, part]) => [name, labelOf(part)]));
      const without = (label) => words.fill("embed_without", { label: label.toLowerCase() });
      const controls = view.table.map(({ key, label }) => [key, without(label)]);
      this.hidden = offer("embed-hidden", controls);
      const choices = document.getElementById("embed-choices");
      choices.addEventListener("change", ({ target }) => {
        this.chosen ||= this.parts.includes(target);
        this.show();
      });
      // Nothing is sent anywhere; return in the form would load the page anew.
      choices.addEventListener("submit", (event) => event.preventDefault());
    }

    /** Write the line for where the controls are, and the way from a frame to the whole page. */
    show() {
      const query = this.link.settings;
      this.whole.hidden = !kvsim.isFramed || !location.protocol.startsWith("http");
      if (!this.whole.hidden) this.whole.href = this.link.elsewhere(query);
      if (!this.chosen) this.propose(query);
      query.set("embed", "1");
      for (const [key, boxes] of [["show", this.parts], ["hide", this.hidden]]) {
        const chosen = boxes.filter((box) => box.checked).map((box) => box.value);
        if (chosen.length) query.set(key, chosen.join(","));
      }
      if (this.theme.value) query.set("theme", this.theme.value);
      this.address.textContent = this.link.elsewhere(query);
    }

    /** Tick what this page shows where it is in a frame itself, or else what has been set here. */
    propose(query) {
      const embedded = "embed" in document.documentElement.dataset;
      const { shown } = this.view;
      const proposed = shown.length || embedded ? shown : this.view.partsWith(query);
      for (const box of this.parts) box.checked = proposed.includes(box.value);
    }

    get text() {
      return this.line.textContent;
    }
  };

  /** Fill a fieldset with a box to tick for each of some choices: value and label. */
  function offer(id, choices) {
    return choices.map(([value, text]) => {
      const label = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.value = value;
      label.append(box, text);
      document.getElementById(id).append(label);
      return box;
    });
  }

  function labelOf(part) {
    return part.dataset.label ?? part.querySelector("h2, h3, summary").textContent.trim();
  }
})((window.kvsim ??= {}));
