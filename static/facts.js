/* Facts and sentences put into the page, as text alone; and files that are dropped or chosen. */
(function (kvsim) {
  "use strict";

  /** An element with a class and what is in it: texts or elements. */
  kvsim.made = function (tag, name, ...children) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...children);
    return element;
  };

  /** A list of names and values; a value may have a line of small print. */
  kvsim.factList = (facts) =>
    kvsim.made(
      "dl",
      "own-facts",
      ...facts.map(([name, value, small]) =>
        kvsim.made(
          "div",
          "",
          kvsim.made("dt", "", name),
          kvsim.made("dd", "", value, ...(small ? [" ", kvsim.made("span", "own-line", small)] : [])),
        ),
      ),
    );

  kvsim.sentenceList = (sentences) =>
    kvsim.made("ul", "own-said", ...sentences.map((each) => kvsim.made("li", "", each)));

  /** A long list of sentences, which scrolls by itself, by keyboard too. */
  kvsim.scrollingList = function (sentences, name) {
    const list = kvsim.made("ul", "", ...sentences.map((each) => kvsim.made("li", "", each)));
    const region = kvsim.made("div", "own-rows", list);
    region.tabIndex = 0;
    region.setAttribute("role", "region");
    region.setAttribute("aria-label", name);
    return region;
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
    for (let box = beside.closest("details"); box; box = null) box.open = true;
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
})((window.kvsim ??= {}));
