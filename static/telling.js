/* What is read aloud: sentences that are new, and what a move of the workshop's controls came to. */
(function (kvsim) {
  "use strict";

  const REST_MS = 1000; // while a slider moves it is its value that is read aloud

  /** Write a sentence that is read aloud: written again it would be read again, even if the same. */
  kvsim.sayOnce = function (place, sentence) {
    if (place.textContent !== sentence) place.textContent = sentence;
  };

  kvsim.Telling = class {
    constructor() {
      this.place = document.getElementById("told");
    }

    /** Say these findings when the controls have rested; those that the page opens with are not news. */
    update({ finding_capacity, finding_ttft }) {
      const told = `${finding_capacity} ${finding_ttft}`;
      const opening = this.told === undefined;
      this.told = told;
      if (opening) return;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => kvsim.sayOnce(this.place, told), REST_MS);
    }
  };
})((window.kvsim ??= {}));
