/* The plate: opens the atlas, and keeps page, charts, drawing and link at the controls' position. */
(function (kvsim) {
  "use strict";

  const LINK_DELAY_MS = 250; // browsers refuse to rewrite an address at every step of a drag

  async function start() {
    const page = JSON.parse(document.getElementById("plate-data").textContent);
    const words = new kvsim.Words(page.words, page.constants);
    const controls = new kvsim.Controls(page.controls);
    const link = new kvsim.Link(controls, words);
    const notice = document.getElementById("notice");
    const say = (...sentences) => (notice.textContent = sentences.join(" "));

    let atlas;
    try {
      atlas = await kvsim.openAtlas(await kvsim.bytesAt(page.files.atlas));
    } catch (error) {
      say(words.fill("atlas_failed", { reason: error.message }));
      return;
    }
    const rates = atlas.axes.rate;
    const charts = new kvsim.Charts(page.charts, words);
    await charts.embed();
    const marker = new kvsim.Marker(charts, controls, rates);
    const drawings = byKind((kind) => new kvsim.CacheDrawing(kind));
    const player = new kvsim.Player(words, drawings);
    const stage = new kvsim.Stage(player, drawings, words);
    const embedAddress = document.querySelector("[data-address]");
    const live = document.querySelectorAll("[data-live]");

    let pending = 0;
    let linkTimer = 0;
    function update() {
      pending = 0;
      const reading = atlas.reading(controls.position);
      const known = words.of(reading);
      for (const element of live) element.textContent = known[element.dataset.live];
      charts.update(reading, known, rates);
      marker.update(reading, known);
      stage.update(reading, known);
      kvsim.fillTtftTable(reading, words, rates);
      embedAddress.textContent = link.write(controls.position);
    }

    const opened = link.read(location.search);
    controls.move(opened.position);
    say(...opened.notices);
    update();

    controls.addEventListener("change", () => {
      pending ||= requestAnimationFrame(update);
      clearTimeout(linkTimer);
      linkTimer = setTimeout(() => link.show(controls.position), LINK_DELAY_MS);
    });
    kvsim.whenColoursChange(() => {
      charts.repaint();
      Object.values(drawings).forEach((drawing) => drawing.repaint());
    });
    new ResizeObserver(() => marker.put()).observe(marker.place);

    document.getElementById("reset").addEventListener("click", () => {
      controls.move(controls.defaults);
      say(words.fill("reset_done", {}));
    });
    copyOnClick("copy-link", "link", () => {
      link.show(controls.position);
      return link.write(controls.position);
    });
    copyOnClick("copy-embed", "embed", () => document.getElementById("embed-line").textContent);

    /** Copy a text to the clipboard, or say where to copy it by hand. */
    function copyOnClick(id, what, text) {
      document.getElementById(id).addEventListener("click", async () => {
        const copied = text();
        try {
          await navigator.clipboard.writeText(copied);
          say(words.fill(`${what}_copied`, {}));
        } catch {
          say(words.fill(`${what}_shown`, {}));
        }
      });
    }

    document.documentElement.dataset.ready = "";

    // The films come last: everything else works without them.
    try {
      const films = await kvsim.openFilms(await kvsim.bytesAt(page.files.films));
      stage.useFilms(films, page.files.film && ((settings) => link.query(page.files.film, settings)));
    } catch (error) {
      say(words.fill("films_failed", { reason: error.message }));
    }
    document.documentElement.dataset.films = "";
  }

  function byKind(make) {
    return Object.fromEntries(["contiguous", "paged"].map((kind) => [kind, make(kind)]));
  }

  start();
})((window.kvsim ??= {}));
