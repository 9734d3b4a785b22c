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
          this.show(this.named(control.name));
          this.dispatchEvent(new Event("change"));
        });
      }
    }

    /** A control as it is now: its values change with the server that is shown. */
    named(name) {
      return this.table.find((control) => control.name === name);
    }

    /** The plate's values and where they stand, or stood before another server was shown. */
    get plates() {
      const { table, position, settings } = this;
      return this.before ?? { table, position, settings };
    }

    /** Leave another server, if one is shown; see whose-server.js. */
    leave() {}

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

    /** Those that have a say in what is shown: of another server not all have. */
    get heeded() {
      return this.table.filter(({ name }) => !this.inputs[name].disabled);
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
      const { values } = this.named(name);
      this.inputs[name].selectedIndex = values.indexOf(value);
    }

    /** Leave out of a list what the page cannot show. */
    offerOnly(name, possible) {
      const { values } = this.named(name);
      values.forEach((value, index) => {
        this.inputs[name].options[index].disabled = !possible(value);
      });
    }

    /** Take the values of another atlas's axes, with their texts by `shown(name, value)`, and those
        of `position` as defaults; controls without an axis stand still. */
    offer(axes, position, shown) {
      this.before = this.plates;
      this.table = this.before.table.map((control) => {
        const values = axes[control.name];
        if (!values) {
          this.inputs[control.name].disabled = true;
          return control;
        }
        if (control.kind === "select") {
          this.offerOnly(control.name, (value) => values.includes(value));
          return { ...control, default: control.values.indexOf(position[control.name]) };
        }
        return {
          ...control,
          values,
          shown: values.map((value) => shown(control.name, value)),
          default: values.indexOf(position[control.name]),
        };
      });
      this.stretch();
    }

    /** Take the plate's values again, and stand where they stood. */
    restore() {
      const { table, position } = this.before;
      this.before = null;
      this.table = table;
      for (const { name } of table) this.inputs[name].disabled = false;
      this.stretch();
      this.move(position);
    }

    /** Make sliders as long as their values are many. */
    stretch() {
      for (const { name, values } of this.table) {
        const input = this.inputs[name];
        if (input.type !== "range") continue;
        input.max = values.length - 1;
        const ticks = input.parentElement.querySelector(".ticks");
        ticks?.replaceChildren(...values.map(() => document.createElement("i")));
      }
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
