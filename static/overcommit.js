/* The section on an overcommitted cache: keeps its drawing, words and tables at its controls. */
(function (kvsim) {
  "use strict";

  /** Bring the section to life, from the file at an address; if it cannot be had, say so. */
  kvsim.openOvercommit = async function (address, controls, words) {
    let results;
    try {
      results = new kvsim.Overcommitted(
        await kvsim.openContainer(await kvsim.bytesAt(address)),
        words,
      );
    } catch (error) {
      const notice = document.getElementById("overcommit-notice");
      notice.textContent = words.fill("overcommit_failed", { reason: error.message });
      return;
    }
    const timeline = new kvsim.Timeline(words);
    const said = document.querySelectorAll("[data-overcommit]");
    const bars = document.querySelectorAll("[data-trade]");
    const rows = document.querySelectorAll("#trade-table tbody tr");
    const shown = document.getElementById("event-shown");
    let events = [];

    timeline.addEventListener("choose", () => {
      const sentence =
        timeline.chosen === undefined
          ? words.fill(events.length ? "overcommit_hint" : "overcommit_nobody", {})
          : results.event(controls.settings, events, timeline.chosen);
      kvsim.sayOnce(shown, sentence);
    });

    function update() {
      const { settings } = controls;
      const known = results.of(settings);
      const shares = results.shares(settings);
      for (const element of said) element.textContent = known[element.dataset.overcommit];
      for (const bar of bars) bar.style.setProperty("--share", shares[bar.dataset.trade]);
      rows.forEach((row, place) => {
        if (place === controls.index("watermark")) row.setAttribute("aria-current", "true");
        else row.removeAttribute("aria-current");
      });
      timeline.drawing.setAttribute("aria-label", known.drawing);
      events = results.events(settings);
      timeline.show({
        held: results.held(settings),
        events,
        seconds: results.header.duration_s,
        requests: results.header.duration_s * settings.overcommit_rate,
        full: words.fill("overcommit_all_blocks", known),
      });
    }

    let pending = 0;
    controls.addEventListener("change", () => {
      pending ||= requestAnimationFrame(() => {
        pending = 0;
        update();
      });
    });
    update();
    document.getElementById("overcommit").dataset.open = "";
  };
})((window.kvsim ??= {}));
