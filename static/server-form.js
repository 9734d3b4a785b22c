/* The form of the reader's own server: model, GPUs, memory, efficiencies and limits, as fields. */
(function (kvsim) {
  "use strict";

  kvsim.ServerForm = class extends EventTarget {
    /** Dispatches "change" when a field has changed. */
    constructor(words) {
      super();
      this.words = words;
      this.form = document.getElementById("own-server");
      this.model = document.getElementById("own-model");
      this.memory = document.getElementById("own-memory");
      this.config = document.getElementById("own-config");
      const file = document.getElementById("own-config-file");
      kvsim.takeFiles(document.getElementById("own-config-drop"), file, async (chosen) => {
        const text = await kvsim.textOf(chosen, this.config, words);
        if (text === null) return;
        this.config.value = text;
        this.changed();
      });
      this.form.addEventListener("input", (event) => event.target.type !== "file" && this.changed());
      this.form.addEventListener("submit", (event) => event.preventDefault());
      this.open();
    }

    changed() {
      this.open();
      this.dispatchEvent(new Event("change"));
    }

    /** Bring in sight what the choices ask for. */
    open() {
      document.getElementById("own-config-drop").hidden = this.model.value !== "";
      for (const field of this.form.querySelectorAll("[data-memory]")) {
        field.hidden = field.dataset.memory !== this.memory.value;
      }
    }

    get fields() {
      return kvsim.fieldsOf(this.form);
    }

    /** Set fields by the server's names; those that are not given stay. */
    fill(fields) {
      for (const kind of ["cache_bytes", "cache_tokens", "utilization"]) {
        if (kind in fields) this.memory.value = kind;
      }
      if ("config" in fields) this.model.value = "";
      for (const input of this.form.querySelectorAll("[data-field]")) {
        const value = fields[input.dataset.field];
        if (value === undefined) continue;
        kvsim.setField(input, value);
        if (input.closest("details")) input.closest("details").open = true;
      }
      this.changed();
    }
  };
})((window.kvsim ??= {}));
