/* The form of the reader's own server: model, GPUs, memory, efficiencies and limits, as fields. */
(function (kvsim) {
  "use strict";

  const GIB = 2 ** 30;
  // What the page shows in other units than the server takes.
  const UNITS = { utilization: 100, compute_share: 100, bandwidth_share: 100, cache_bytes: 1 / GIB };

  /** The value of an input as the server takes it; null if it is empty. */
  function valueOf(input) {
    if (input.type !== "number") return input.value || null;
    if (input.value === "") return null;
    return input.valueAsNumber / (UNITS[input.dataset.field] ?? 1);
  }

  /** The fields of a form that are in sight, by the names that the server gives them. */
  kvsim.fieldsOf = function (form) {
    const fields = {};
    for (const input of form.querySelectorAll("[data-field]")) {
      if (!input.closest("[hidden]") && input.type !== "file") fields[input.dataset.field] = valueOf(input);
    }
    return fields;
  };

  /** Say of number fields in a form that hold something else; true if there are any. */
  kvsim.refuseNoNumbers = function (form, words) {
    const wrong = [...form.querySelectorAll("input[type=number]")].filter((input) => input.validity.badInput);
    for (const input of wrong) kvsim.sayWrong(input, words.fill("own_no_number", {}));
    return wrong.length > 0;
  };

  /** Say a server's sentence beside the field that it begins with; false if it names none. */
  kvsim.sayRefused = function (forms, sentence) {
    const inputs = forms.flatMap((form) => [...form.querySelectorAll("[data-field]")]);
    const begins = ({ dataset: { field } }) => new RegExp(`^${field}\\b`).test(sentence);
    const inSight = (input) => !input.closest("[hidden]");
    const input = inputs.find((each) => begins(each) && inSight(each));
    if (input) kvsim.sayWrong(input, sentence);
    return Boolean(input);
  };

  /** Say no longer what was wrong; of a file it is said until another one is chosen. */
  kvsim.clearWrong = function (...forms) {
    for (const form of forms) {
      for (const input of form.querySelectorAll("[aria-invalid]:not([type=file])")) {
        kvsim.sayWrong(input, "");
      }
    }
  };

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
        const number = typeof value === "number";
        input.value = number ? value * (UNITS[input.dataset.field] ?? 1) : (value ?? "");
        if (input.closest("details")) input.closest("details").open = true;
      }
      this.changed();
    }
  };

  /** The text of a file, or null, and then the field says why. */
  kvsim.textOf = async function (file, field, words) {
    if (kvsim.isTooLarge(file, field, words)) return null;
    kvsim.sayWrong(field, "");
    return file.text();
  };

  /** Whether a file has more bytes than a field takes; then it says so. */
  kvsim.isTooLarge = function (file, field, words) {
    const most = Number(field.dataset.most);
    if (file.size <= most) return false;
    const inMb = (bytes) => words.significant(bytes / 1e6);
    kvsim.sayWrong(
      field,
      words.fill("own_too_large", { name: file.name, size: inMb(file.size), most: inMb(most) }),
    );
    return true;
  };
})((window.kvsim ??= {}));
