/* The fields of the reader's own server: their values, what is wrong with one, files for it. */
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

  /** Set an input to a value as the server takes it; null empties it. */
  kvsim.setField = function (input, value) {
    const number = typeof value === "number";
    input.value = number ? value * (UNITS[input.dataset.field] ?? 1) : (value ?? "");
  };

  /** Say beside a field what is wrong with it; nothing, if nothing is. */
  kvsim.sayWrong = function (field, sentence) {
    const id = `${field.id}-wrong`;
    let beside = document.getElementById(id);
    if (!sentence) {
      beside?.remove();
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-describedby");
      return;
    }
    if (!beside) {
      beside = kvsim.made("p", "own-wrong");
      beside.id = id;
      beside.setAttribute("role", "status");
      (field.closest(".own-field") ?? field).after(beside);
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-describedby", id);
    }
    if (beside.textContent !== sentence) beside.textContent = sentence;
    const box = beside.closest("details");
    if (box) box.open = true;
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

  /** Take files that are dropped onto a zone or chosen with its input; text dropped into a text
      area stays the browser's business. */
  kvsim.takeFiles = function (zone, input, take) {
    const ofFiles = (event) => event.dataTransfer?.types.includes("Files");
    input.addEventListener("change", () => input.files.length && take(input.files[0]));
    zone.addEventListener("dragover", (event) => {
      if (!ofFiles(event)) return;
      event.preventDefault();
      zone.classList.add("own-over");
    });
    for (const end of ["dragleave", "drop"]) {
      zone.addEventListener(end, () => zone.classList.remove("own-over"));
    }
    zone.addEventListener("drop", (event) => {
      if (!ofFiles(event)) return;
      event.preventDefault();
      input.files = event.dataTransfer.files;
      take(input.files[0]);
    });
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
