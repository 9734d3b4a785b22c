/* The controls: native inputs made from app/settings.py, and the position that they stand at. */
(function (kvsim) {
  "use strict";

  kvsim.Controls = class extends EventTarget {
    /** `table` lists the controls: name, id, key, label, values, shown (their texts), default (its
        index). Dispatches "change" with every move, also while dragging. */
    constructor(table) {
      super();
      this.table = table;
      this.inputs = {};
      for (const control of table) {
        const input = document.getElementById(control.id);
        this.inputs[control.name] = input;
        input.addEventListener("input", () => {
          this.show(control);
          this.dispatchEvent(new Event("change"));
        });
      }
    }

    get defaults() {
      return Object.fromEntries(this.table.map((control) => [control.name, control.default]));
    }

    get position() {
      return Object.fromEntries(this.table.map(({ name }) => [name, this.index(name)]));
    }

    /** The value of each control, by its name. */
    get settings() {
      return Object.fromEntries(this.table.map(({ name, values }) => [name, values[this.index(name)]]));
    }

    index(name) {
      const input = this.inputs[name];
      if (input.type === "checkbox") return Number(input.checked);
      return input.type === "range" ? input.valueAsNumber : input.selectedIndex;
    }

    /** Move some of the controls: the index of a value, by name; of others they take no notice. */
    move(position) {
      for (const control of this.table) {
        if (!(control.name in position)) continue;
        const input = this.inputs[control.name];
        const index = position[control.name];
        if (input.type === "checkbox") input.checked = Boolean(index);
        else if (input.type === "range") input.value = index;
        else input.selectedIndex = index;
        this.show(control);
      }
      this.dispatchEvent(new Event("change"));
    }

    /** Put one control at a value, without telling. */
    choose(name, value) {
      const { values } = this.table.find((control) => control.name === name);
      this.inputs[name].selectedIndex = values.indexOf(value);
    }

    /** Leave out of a list what the page cannot show. */
    offerOnly(name, possible) {
      const { values } = this.table.find((control) => control.name === name);
      values.forEach((value, index) => {
        this.inputs[name].options[index].disabled = !possible(value);
      });
    }

    /** Write the value beside its slider, and where a screen reader looks for it. */
    show(control) {
      const input = this.inputs[control.name];
      if (input.type !== "range") return;
      const text = control.shown[this.index(control.name)];
      input.setAttribute("aria-valuetext", text);
      document.getElementById(`${control.id}-shown`).textContent = text;
    }
  };
})((window.kvsim ??= {}));
