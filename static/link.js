/* The link: settings in the page's address, only those that differ from the defaults. */
(function (kvsim) {
  "use strict";

  kvsim.Link = class {
    constructor(controls, words) {
      this.controls = controls;
      this.words = words;
    }

    /** Read an address: the position of each valid key, and a sentence about each other one. */
    read(search) {
      const given = new URLSearchParams(search);
      const position = {};
      const notices = [];
      for (const key of new Set(given.keys())) {
        const control = this.controls.table.find((each) => each.key === key);
        const values = given.getAll(key);
        const say = (sentence, fields) =>
          notices.push(this.words.fill(sentence, { key, value: values[0], ...fields }));
        if (!control) {
          const keys = this.controls.table.map((each) => each.key).join(", ");
          say("link_unknown", { keys });
          continue;
        }
        if (values.length > 1) say("link_repeated", {});
        const text = values[0].trim();
        const index = text === "" ? -1 : control.values.indexOf(Number(text));
        if (index >= 0) {
          position[control.name] = index;
        } else {
          const sentence = /^[-+]?(\d+\.?\d*|\.\d+)$/.test(text) ? "link_not_offered" : "link_not_number";
          say(sentence, {
            label: control.label.toLowerCase(),
            allowed: control.allowed,
            shown: control.shown[this.controls.index(control.name)],
          });
        }
      }
      return { position, notices };
    }

    /** The address of a position, relative to nothing but this page. */
    write(position) {
      const address = new URL(location.href);
      for (const control of this.controls.table) {
        const index = position[control.name];
        if (index === control.default) address.searchParams.delete(control.key);
        else address.searchParams.set(control.key, control.values[index]);
      }
      return address.href;
    }

    /** Show a position's address without adding to the reader's history. */
    show(position) {
      try {
        history.replaceState(history.state, "", this.write(position));
      } catch {
        // A page without an origin of its own (srcdoc, a sandboxed frame) has no address to change.
      }
    }
  };
})((window.kvsim ??= {}));
