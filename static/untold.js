/* What needs a figure that is not simulated yet is not said: paragraphs marked `data-told` go, and
   beside them the one marked `data-untold`, if there is one, says so. */
(function (kvsim) {
  "use strict";

  kvsim.Untold = class {
    constructor(words) {
      this.unknown = words.fill("unknown", {});
      this.told = [...document.querySelectorAll("[data-told]")];
    }

    /** Show what can be told by these words. */
    update(known) {
      for (const paragraph of this.told) {
        const keys = [...paragraph.querySelectorAll("[data-live]")].map((each) => each.dataset.live);
        paragraph.hidden = keys.some((key) => known[key] === this.unknown);
      }
      for (const instead of document.querySelectorAll("[data-untold]")) {
        instead.hidden = !instead.parentElement.querySelector("[data-told][hidden]");
      }
    }
  };
})((window.kvsim ??= {}));
