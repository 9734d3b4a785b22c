/* Whose server the workshop shows: another's atlas, words and values in place of the plate's. */
(function (kvsim) {
  "use strict";

  kvsim.WhoseServer = class {
    /** `update` shows the position that the controls stand at. */
    constructor(atlases, controls, words, update) {
      this.atlases = atlases;
      this.controls = controls;
      this.words = words;
      this.update = update;
      this.plates = words.constants;
      this.line = document.getElementById("whose-server");
      this.name = document.getElementById("whose-server-name");
      controls.leave = () => this.shown && this.back();
      document.getElementById("whose-server-back").addEventListener("click", () => this.back());
    }

    get shown() {
      return Boolean(this.atlases.own);
    }

    /** Show an atlas of the server `title`, at a position by the controls' values; an atlas with the
        same axes leaves the controls where they are. While its curve there is a coarse one, that is
        said: it is one until it is known what twice of each resource would do. */
    show(atlas, title, position) {
      const { own } = this.atlases;
      const same = title === own?.title && JSON.stringify(atlas.axes) === JSON.stringify(own.axes);
      atlas.title = title;
      this.atlases.own = atlas;
      this.words.constants = kvsim.constantWords(this.words, atlas.constants, atlas.axes);
      const { contiguous, paged } = atlas.reading(position);
      this.coarse = [contiguous, paged].some(({ doubled }) => Number.isNaN(doubled[0]));
      this.name.textContent = this.words.fill(this.coarse ? "own_shown_coarse" : "own_shown", { title });
      if (same) {
        this.update();
        return;
      }
      this.controls.offer(atlas.axes, position, (name, value) =>
        name === "rate" ? this.words.rate(value) : this.words.tokens(value),
      );
      this.line.hidden = false;
      this.moveTo(position);
    }

    /** What is written where its figures are taken away; nothing is, of the plate's. */
    get sentence() {
      if (!this.shown) return "";
      return this.words.fill(this.coarse ? "own_figures_coarse" : "own_figures", this.atlases.own);
    }

    /** Move the controls to values that the atlas has. */
    moveTo(position) {
      this.controls.move(
        Object.fromEntries(
          this.controls.table
            .filter(({ name }) => name in position)
            .map(({ name, values }) => [name, values.indexOf(position[name])]),
        ),
      );
    }

    back() {
      this.atlases.own = null;
      this.words.constants = this.plates;
      this.controls.offerOnly("reservation", () => true);
      this.line.hidden = true;
      this.controls.inputs.block_size.focus();
      this.controls.restore();
    }
  };
})((window.kvsim ??= {}));
