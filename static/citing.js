/* Citing and reporting: texts to be copied, and a report of a mistake, which is sent by nobody but
   the reader. */
(function (kvsim) {
  "use strict";

  kvsim.offerCitations = function (words) {
    for (const what of ["citation", "bibtex"]) {
      const notice = document.getElementById(`${what}-notice`);
      kvsim.copyOnClick(`copy-${what}`, notice, words, "text", () => document.getElementById(what).textContent);
    }
  };

  /** `now` returns {known} of what is shown, `address` a link to it, `settings` its keys and values,
      `whose` the server that it is of. */
  kvsim.offerReport = function ({ words, version, now, address, whose, settings }) {
    const shown = document.getElementById("report");
    kvsim.copyOnClick("copy-report", document.getElementById("report-notice"), words, "text", () => {
      const { known } = now();
      const dark = matchMedia("(prefers-color-scheme: dark)").matches;
      shown.textContent = words.fill("report", {
        version,
        seed: known.seed,
        settings: settings().map(([key, value]) => `${key}=${value}`).join(" "),
        address: address(),
        browser: navigator.userAgent,
        width: innerWidth,
        height: innerHeight,
        theme: words.fill(dark ? "theme_dark" : "theme_light", {}),
        finding: `${whose.sentence} ${known.finding_capacity} ${known.finding_ttft}`.trim(),
      });
      shown.hidden = false;
      return shown.textContent;
    });
  };
})((window.kvsim ??= {}));
