/* The link: settings in the page's address, only those that differ from the defaults. */
(function (kvsim) {
  "use strict";

  const NUMBER = /^[-+]?\d+(\.\d+)?$/;
  const TRACKING = /^(utm_\w+|fbclid|gclid)$/; // put there by others, and no business of ours
  const MOST_NOTICES = 4;
  const MOST_CHARACTERS = 40;
  const FILE = "plate.html"; // what README has the offline file called

  /** A text that somebody gave, as far as it is worth repeating; what cannot be seen, such as what
      turns the direction of a text, is marked. */
  kvsim.shortened = (text) => {
    const short = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
    return short.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "\ufffd");
  };

  kvsim.Link = class {
    /** `groups` are all controls of the page: the workshop's, and those of further sections. */
    constructor(groups, words, view) {
      this.groups = groups;
      this.words = words;
      this.view = view;
    }

    get table() {
      return this.groups.flatMap((controls) => controls.plates.table);
    }

    /** Read an address and move the controls there; return a sentence about each invalid key. */
    open(search) {
      const { position, notices } = this.read(search);
      this.move(position);
      return notices;
    }

    /** Move controls of all groups: the index of a value, by name. */
    move(position) {
      for (const controls of this.groups) controls.move(position);
    }

    get position() {
      return Object.assign({}, ...this.groups.map((controls) => controls.plates.position));
    }

    get defaults() {
      return Object.assign({}, ...this.groups.map((controls) => controls.defaults));
    }

    /** The position of each valid key of an address, and a sentence about each other one. */
    read(search) {
      const { table, position: now } = this;
      const given = new URLSearchParams(search);
      const position = {};
      const notices = [...this.view.notices];
      for (const key of new Set(given.keys())) {
        if (TRACKING.test(key) || kvsim.View.KEYS.includes(key)) continue;
        const control = table.find((each) => each.key === key);
        const values = given.getAll(key);
        const say = (sentence, fields) =>
          notices.push(
            this.words.fill(sentence, {
              key: kvsim.shortened(key),
              value: kvsim.shortened(values[0]),
              ...fields,
            }),
          );
        if (!control) {
          const keys = [...table.map((each) => each.key), ...kvsim.View.KEYS];
          say("link_unknown", { keys: keys.join(", ") });
          continue;
        }
        const text = values[0].trim();
        const number = NUMBER.test(text);
        const named = control.kind === "select";
        const value = number && !named ? Number(text) : text;
        const index = control.values.indexOf(value);
        if (index >= 0) {
          position[control.name] = index;
          if (new Set(values).size > 1) say("link_repeated", {});
        } else {
          say(number || named ? "link_not_offered" : "link_not_number", {
            label: control.label.toLowerCase(),
            allowed: control.allowed,
            shown: control.shown[now[control.name]],
          });
        }
      }
      const more = notices.length - MOST_NOTICES;
      if (more > 0) {
        notices.splice(MOST_NOTICES, more, this.words.fill("link_more", { more }));
      }
      return { position, notices };
    }

    /** The settings of the position as a query: those that differ from the defaults. */
    get settings() {
      const { position } = this;
      const settings = new URLSearchParams();
      for (const control of this.table) {
        const index = position[control.name];
        if (index !== control.default) settings.set(control.key, control.values[index]);
      }
      return settings;
    }

    /** The address of the position: this page's, with the settings and the view, and no more. */
    write() {
      const query = this.settings;
      this.view.write(query);
      const address = new URL(location.href);
      address.search = query;
      return address.href;
    }

    /** This page with another query. A page without a server has no address that others could use:
        it is named as a file that stands beside theirs. */
    elsewhere(query) {
      const served = location.protocol.startsWith("http");
      const address = served ? new URL(location.pathname, location.href).href : FILE;
      // A comma may stand in a query as it is, and is easier to read.
      const written = query.toString().replaceAll("%2C", ",");
      return written ? `${address}?${written}` : address;
    }

    /** Let links to settings move the controls, also where the page has no address to go to. */
    follow(workshop) {
      for (const anchor of document.querySelectorAll("a[data-settings]")) {
        anchor.addEventListener("click", (event) => {
          if (event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
          event.preventDefault();
          for (const controls of this.groups) controls.leave();
          const { position } = this.read(anchor.dataset.settings);
          this.move({ ...this.defaults, ...position });
          workshop.scrollIntoView();
          workshop.focus({ preventScroll: true });
        });
      }
    }

    /** Another address with the workshop's settings as its query, by their values. */
    query(address, settings) {
      const [{ plates: { table } }] = this.groups;
      const query = new URLSearchParams(table.map(({ key, name }) => [key, settings[name]]));
      return `${address}?${query}`;
    }

    /** Whether the page has an address at all: what a frame holds as text has none. */
    get addressed() {
      return location.protocol !== "about:";
    }

    /** Show the position's address without adding to the reader's history. */
    show() {
      try {
        history.replaceState(history.state, "", this.write());
      } catch {
        // A page without an origin of its own (srcdoc, a sandboxed frame) has no address to change.
      }
    }
  };
})((window.kvsim ??= {}));
