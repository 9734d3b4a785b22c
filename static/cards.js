/* The cards: a prediction, a move of the controls, and what was seen; app/lessons.py writes the
   same words into the page before any script. */
(function (kvsim) {
  "use strict";

  const CLOSE = 0.1; // as in app/lessons.py
  const SETTLE_MS = 200; // a slider in motion has arrived nowhere yet
  const MOST_CHARACTERS = 20;

  kvsim.Cards = class {
    /** `cards` are those of lessons.json; `key` names the place in the session's storage where
        predictions are kept; `tell` says a sentence beside the controls. */
    constructor(cards, controls, words, key, tell) {
      this.controls = controls;
      this.words = words;
      this.tell = tell;
      this.store = new Store(key);
      const kept = this.store.read();
      this.cards = cards.map((card) => new Card(card, this, kept[card.name]));
      this.count();
    }

    /** Follow the controls: a reading of the atlas. */
    update(atlas, reading) {
      clearTimeout(this.settling);
      this.settling = setTimeout(() => {
        this.atlas = atlas;
        this.settings = reading.settings;
        for (const card of this.cards) card.follow();
      }, SETTLE_MS);
    }

    changed() {
      this.store.write(Object.fromEntries(this.cards.map(({ name, kept }) => [name, kept])));
      this.count();
    }

    count() {
      const done = this.cards.filter(({ kept }) => kept.seen).length;
      const counts = { done, all: this.cards.length };
      document.getElementById("cards-done").textContent = done ? this.words.fill("cards_done", counts) : "";
    }
  };

  class Card {
    constructor(definition, cards, kept) {
      this.definition = definition;
      this.cards = cards;
      this.name = definition.name;
      this.place = document.getElementById(`card-${this.name}`);
      const find = (selector) => this.place.querySelector(selector);
      this.ask = find("[data-ask]");
      this.inputs = [...this.place.querySelectorAll("input")];
      this.commitButton = find("[type=submit]");
      this.startButton = find("[data-start]");
      this.againButton = find("[data-again]");
      this.said = find(".card-said");
      this.kept = this.valid(kept) ? kept : {};
      find("form").addEventListener("submit", (event) => {
        event.preventDefault();
        this.commit();
      });
      this.startButton.addEventListener("click", () => this.toStart());
      this.againButton.addEventListener("click", () => this.again());
      this.show();
    }

    /** What a session has kept may be of another page, or anybody's. */
    valid(kept) {
      if (typeof kept?.guess !== "string" || !["undefined", "string"].includes(typeof kept.seen)) return false;
      return this.definition.answers
        ? this.definition.answers.some(([name]) => name === kept.guess)
        : this.numbered(kept.guess);
    }

    numbered(text) {
      const { least, most } = this.definition;
      return /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most;
    }

    /** The sentence of the word file for this card. */
    write(sentence, fields) {
      return this.cards.words.fill(`card_${this.name}_${sentence}`, fields);
    }

    commit() {
      const { words } = this.cards;
      const { answers, least, most } = this.definition;
      const given = answers ? this.inputs.find((input) => input.checked)?.value : this.inputs[0].value.trim();
      if (!given) {
        this.refuse(words.fill("card_none", {}));
      } else if (!answers && !this.numbered(given)) {
        this.refuse(words.fill("card_no_number", { value: given.slice(0, MOST_CHARACTERS), least, most }));
      } else {
        this.kept = { guess: given };
        this.show();
        this.startButton.focus();
        this.follow();
        this.cards.changed();
      }
    }

    refuse(sentence) {
      this.said.textContent = sentence;
      this.inputs[0].focus();
    }

    /** Set the controls to where the card begins, and everything else to the plate's own. */
    toStart() {
      const { controls, words } = this.cards;
      const { start, keep, goal } = this.definition;
      controls.leave();
      const at = Object.entries({ ...keep, ...start }).map(([name, value]) => [
        name,
        control(controls, name).values.indexOf(value),
      ]);
      controls.move({ ...controls.defaults, ...Object.fromEntries(at) });
      if (this.kept.guess) controls.inputs[Object.keys(goal)[0]].focus();
      else this.said.textContent = words.fill("card_at_start", {});
    }

    again() {
      this.kept = {};
      for (const input of this.inputs) {
        if (input.type === "radio") input.checked = false;
        else input.value = "";
      }
      this.show();
      this.follow();
      this.inputs[0].focus();
      this.cards.changed();
    }

    /** What is left to be set: the value wanted of each control that stands elsewhere. */
    moves() {
      const { keep, goal } = this.definition;
      const { settings } = this.cards;
      return Object.entries({ ...goal, ...keep }).filter(([name, value]) => settings[name] !== value);
    }

    /** Ask with the numbers of where the controls stand; notice when they stand where they should. */
    follow() {
      const { atlas, settings, words } = this.cards;
      if (this.kept.seen || !atlas) return;
      const { start, goal, keep } = this.definition;
      const began = atlas.reading({ ...settings, ...keep, ...start });
      const ended = atlas.reading({ ...settings, ...keep, ...goal });
      const fields = this.fields(began, ended);
      this.ask.textContent = this.write("ask", fields);
      if (!this.kept.guess) return;
      const moves = this.moves();
      if (moves.length) kvsim.sayOnce(this.said, words.fill("card_do", { moves: this.listed(moves) }));
      else this.finish(began, ended, fields);
    }

    finish(began, ended, fields) {
      const { words, tell } = this.cards;
      const { guess } = this.kept;
      const right = this.answer(began, ended);
      const numbered = !this.definition.answers;
      const close = numbered && Math.abs(guess - right) <= CLOSE * right;
      const verdict = String(right) === guess ? "right" : close ? "close" : "off";
      const shown = numbered ? words.count(Number(guess)) : this.write(guess, {});
      const judged = words.fill(`card_${verdict}`, { guess: shown });
      this.kept.seen = `${judged} ${this.write(numbered ? "seen" : `seen_${right}`, fields)}`;
      const focused = this.place.contains(document.activeElement);
      this.show();
      if (focused) this.againButton.focus();
      this.cards.changed();
      tell(words.fill("card_done", { title: this.write("title", {}), seen: this.kept.seen }));
    }

    /** The answer that was right, by its name, or the number. */
    answer(began, ended) {
      const [over, under] = this.definition.measure.map((name) => quantity(name, began, ended));
      const value = under === undefined ? over : over / under;
      const { answers } = this.definition;
      if (!answers) return Number(value.toFixed(0));
      return answers.find(([, below]) => below === null || value < below)[0];
    }

    fields(began, ended) {
      const { words, controls } = this.cards;
      const prefixed = (prefix, entries) => Object.fromEntries(entries.map(([key, text]) => [prefix + key, text]));
      const goals = Object.entries(this.definition.goal).map(([name, value]) => [
        name,
        shownAs(control(controls, name), value),
      ]);
      return {
        ...words.of(ended),
        ...prefixed("start_", Object.entries(words.of(began))),
        ...prefixed("goal_", goals),
      };
    }

    listed(moves) {
      const { words, controls } = this.cards;
      const parts = moves.map(([name, value]) => {
        const { label } = control(controls, name);
        return words.fill("card_move", { label, shown: shownAs(control(controls, name), value) });
      });
      const last = parts.pop();
      return parts.length ? words.fill("card_moves", { most: parts.join(", "), last }) : last;
    }

    /** Show how far the reader is. */
    show() {
      const { guess, seen } = this.kept;
      const committed = guess !== undefined;
      for (const input of this.inputs) {
        input.disabled = committed;
        if (!committed) continue;
        if (input.type === "radio") input.checked = input.value === guess;
        else input.value = guess;
      }
      this.commitButton.hidden = committed;
      this.startButton.hidden = Boolean(seen);
      this.againButton.hidden = !committed;
      this.place.classList.toggle("card-seen", Boolean(seen));
      // What was seen is said beside the controls, where the reader is; once is enough.
      this.said.setAttribute("role", seen ? "note" : "status");
      this.said.textContent = seen ?? "";
    }
  }

  /** One quantity of a measure: "paged.requests", "rate", "start.paged.requests". */
  function quantity(name, began, ended) {
    const path = name.split(".");
    const reading = path[0] === "start" ? began : ended;
    if (path[0] === "start") path.shift();
    return path[0] === "rate" ? reading.settings.rate : reading[path[0]][path[1]];
  }

  const control = (controls, name) => controls.table.find((each) => each.name === name);
  const shownAs = ({ values, shown }, value) => shown[values.indexOf(value)];

  /** The session's storage; a page in a sandboxed frame has none, and does without. */
  class Store {
    constructor(key) {
      this.key = key;
    }

    read() {
      try {
        return JSON.parse(sessionStorage.getItem(this.key)) ?? {};
      } catch {
        return {};
      }
    }

    write(state) {
      try {
        sessionStorage.setItem(this.key, JSON.stringify(state));
      } catch {
        // Then the predictions last as long as the page.
      }
    }
  }
})((window.kvsim ??= {}));
