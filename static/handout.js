/* The handout: two printed pages of the settings that are on the screen. */
(function (kvsim) {
  "use strict";

  /** Print them when the button is pressed; `say` tells why not, `address` is a link to what they
      show. Printing the page as usual still prints all of it. */
  kvsim.offerHandout = function (words, say, address) {
    const root = document.documentElement;
    const line = document.getElementById("handout-link");
    addEventListener("beforeprint", () => {
      line.textContent = address() && words.fill("handout_link", { address: address() });
    });
    addEventListener("afterprint", () => root.classList.remove("handout"));
    document.getElementById("print-handout").addEventListener("click", () => {
      if (kvsim.confined()) {
        say(words.fill("print_blocked", {}));
        return;
      }
      root.classList.add("handout");
      window.print();
    });
  };
})((window.kvsim ??= {}));
