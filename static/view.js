/* The view: what an address asks of the page beside settings. `embed=1` leaves out masthead and
   text, `show=` picks parts, `hide=` takes controls away, `theme=` is light or dark. This runs in
   the head, so that nothing is painted and then taken back. */
(function (kvsim) {
  "use strict";

  const root = document.documentElement;
  const KEYS = ["embed", "show", "hide", "theme"];
  const THEMES = ["light", "dark"];
  const WORKSHOP = "workshop";
  const CONTROL = ".control, .control-select";

  // A file's own view goes first into the map, so that its address can say otherwise.
  const asked = new Map();
  for (const query of [root.dataset.view, location.search]) {
    const given = new URLSearchParams(query);
    for (const key of KEYS) {
      if (given.has(key)) asked.set(key, given.getAll(key));
    }
  }
  const text = (key) => asked.get(key)?.[0].trim() ?? "";
  const names = (key) => text(key).split(",").map((name) => name.trim()).filter(Boolean);

  if (text("embed") === "1") root.dataset.embed = "";
  if (names("show").length) root.dataset.picked = "";
  if (THEMES.includes(text("theme"))) root.dataset.theme = text("theme");

  kvsim.View = class {
    static KEYS = KEYS;

    /** Take what was asked for; `notices` has a sentence about each thing that cannot be had. */
    constructor(groups, words) {
      this.groups = groups;
      this.parts = partsOfPage();
      const parts = names("show").filter((name) => this.parts.has(name));
      const hidden = names("hide").filter((key) => this.table.some((each) => each.key === key));
      this.shown = parts;
      this.hidden = new Set(hidden);
      this.notices = [...this.complaints(words)];
    }

    /** All controls of the page. */
    get table() {
      return this.groups.flatMap((controls) => controls.table);
    }

    *complaints(words) {
      const refuse = (key, value, allowed) =>
        words.fill("view_not_offered", { key, value: kvsim.shortened(value), allowed });
      if (asked.has("embed") && text("embed") !== "1") yield refuse("embed", text("embed"), "1");
      if (asked.has("theme") && !THEMES.includes(text("theme"))) {
        yield refuse("theme", text("theme"), THEMES.join(", "));
      }
      const parts = [...this.parts.keys()];
      const keys = this.table.map((control) => control.key);
      for (const [key, known] of [["show", parts], ["hide", keys]]) {
        const unknown = names(key).filter((name) => !known.includes(name));
        if (unknown.length) yield refuse(key, unknown.join(","), known.join(", "));
      }
      for (const [key, values] of asked) {
        if (new Set(values).size > 1) {
          yield words.fill("link_repeated", { key, value: kvsim.shortened(values[0]) });
        }
      }
    }

    /** Hide the parts and controls that were not asked for. */
    apply() {
      const chosen = this.shown.map((name) => this.parts.get(name));
      const embedded = "embed" in root.dataset;
      for (const part of this.parts.values()) {
        part.hidden = chosen.length
          ? !chosen.some((each) => each.contains(part) || part.contains(each))
          : embedded && "reading" in part.dataset;
      }
      const contents = document.querySelector(".contents");
      for (const link of contents.querySelectorAll("a")) {
        link.parentElement.hidden = document.querySelector(link.hash).hidden;
      }
      contents.hidden = !contents.querySelector("li:not([hidden])");
      for (const { table, inputs } of this.groups) {
        for (const { name, key } of table) {
          inputs[name].closest(CONTROL).hidden = this.hidden.has(key);
        }
      }
    }

    /** A position without the controls that are hidden: what a reader may move. */
    movable(position) {
      const kept = this.table.filter((control) => !this.hidden.has(control.key));
      return Object.fromEntries(kept.map(({ name }) => [name, position[name]]));
    }

    /** The parts that show all that has been set: the workshop, and where a query's controls are. */
    partsWith(query) {
      const moved = this.groups.flatMap(({ table, inputs }) =>
        table.filter(({ key }) => query.has(key)).map(({ name }) => inputs[name]),
      );
      const holds = ([name, part]) => name === WORKSHOP || moved.some((each) => part.contains(each));
      return [...this.parts].filter(holds).map(([name]) => name);
    }

    /** Add what was asked for to an address's query. */
    write(query) {
      if ("embed" in root.dataset) query.set("embed", "1");
      if (this.shown.length) query.set("show", this.shown.join(","));
      if (this.hidden.size) query.set("hide", [...this.hidden].join(","));
      if (THEMES.includes(text("theme"))) query.set("theme", text("theme"));
    }
  };

  /** The parts by name: whatever stands in the page's main element with an id, by that, and what
      bears a name of its own (data-part) within. */
  function partsOfPage() {
    const parts = new Map();
    for (const element of document.querySelectorAll("main > [id], main [data-part]")) {
      parts.set(element.dataset.part ?? element.id, element);
    }
    return parts;
  }
})((window.kvsim ??= {}));
