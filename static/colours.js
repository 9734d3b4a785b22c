/* Colours: the style sheet's, for what is drawn by script, in light, in the dark and on paper. */
(function (kvsim) {
  "use strict";

  /** The style sheet's colour of that name, as it writes it ("#a83a14"). */
  kvsim.colour = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

  /** Call `repaint` whenever colours change: the reader's preference, data-theme, or printing. */
  kvsim.whenColoursChange = function (repaint) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
    matchMedia("print").addEventListener("change", repaint);
    const theme = new MutationObserver(repaint);
    theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  };
})((window.kvsim ??= {}));
