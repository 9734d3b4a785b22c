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
      atlas = await kvsim.openAtlas(await atlasBytes(page.atlas));
    } catch (error) {
      say(words.fill("atlas_failed", { reason: error.message }));
      return;
    }
    const rates = atlas.axes.rate;
    const charts = new kvsim.Charts(page.charts, words);
    await charts.embed();
    const marker = new kvsim.Marker(charts, controls, rates);
    const drawings = ["contiguous", "paged"].map((kind) => new kvsim.CacheDrawing(kind));
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
      drawings.forEach((drawing) => {
        drawing.update(reading);
        drawing.canvas.setAttribute("aria-label", known[`drawing_${drawing.kind}`]);
      });
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
      drawings.forEach((drawing) => drawing.repaint());
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
  }

  /** The atlas's bytes: from its address, or from the page itself in a file that works offline. */
  async function atlasBytes(address) {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  }

  start();
})((window.kvsim ??= {}));
