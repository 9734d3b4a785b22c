/* The plate: opens the atlas, and keeps page, charts, drawing and link at the controls' position. */
(function (kvsim) {
  "use strict";

  const LINK_DELAY_MS = 250; // browsers refuse to rewrite an address at every step of a drag

  async function start() {
    const page = JSON.parse(document.getElementById("plate-data").textContent);
    const words = new kvsim.Words(page.words, page.constants);
    const controls = new kvsim.Controls(page.controls);
    const sections = Object.fromEntries(
      Object.entries(page.sections).map(([name, table]) => [name, new kvsim.Controls(table)]),
    );
    const groups = [controls, ...Object.values(sections)];
    const view = new kvsim.View(groups, words);
    view.apply();
    const link = new kvsim.Link(groups, words, view);
    kvsim.announceHeight();
    const notice = document.getElementById("notice");
    const say = (...sentences) => (notice.textContent = sentences.join(" "));

    const atlases = new kvsim.Atlases(page.files.atlases);
    controls.offerOnly("workload", (workload) => atlases.has(workload));
    const notices = link.open(location.search);
    try {
      await atlases.open(controls.settings.workload);
    } catch (error) {
      say(words.fill("atlas_failed", { reason: error.message }));
      return;
    }
    await kvsim.unpackScripts();
    const charts = new kvsim.Charts(page.charts, words);
    await charts.embed();
    const marker = new kvsim.Marker(charts, controls, view.hidden.has("rate"));
    const strips = new kvsim.LimitStrips(charts, words);
    const drawings = byKind((kind) => new kvsim.CacheDrawing(kind));
    const stage = new kvsim.Stage(new kvsim.Player(words, drawings), drawings, words);
    const embedding = new kvsim.Embedding(link, view, words);
    const live = document.querySelectorAll("[data-live]");
    const keptAt = `kvsim-cards-${page.version}-${document.documentElement.lang}`;
    const untold = new kvsim.Untold(words);
    const telling = new kvsim.Telling();
    const cards = new kvsim.Cards(page.cards, controls, words, keptAt, say);
    let shown; // {atlas, reading, known} of what stands on the page

    const whose = new kvsim.WhoseServer(atlases, controls, words, () => updateSoon());

    let pending = 0;
    let linkTimer = 0;
    function update() {
      pending = 0;
      const reading = atlases.current.reading(controls.settings);
      const known = words.of(reading);
      shown = { atlas: atlases.current, reading, known };
      for (const element of live) element.textContent = known[element.dataset.live];
      untold.update(known);
      telling.update(known);
      charts.update(atlases.current, reading, known);
      marker.update(reading, known);
      strips.update(reading, known);
      stage.update(reading, known);
      if (!reading.own) cards.update(atlases.current, reading); // they claim things of the plate's
      kvsim.fillTtftTable(reading, words, reading.rates);
    }
    const updateSoon = () => (pending ||= requestAnimationFrame(update));

    /** Another workload has an atlas of its own; until it is here, or if it cannot be had, the page
        stays with the one that it has. */
    async function changeWorkload() {
      const wanted = controls.settings.workload;
      try {
        await atlases.open(wanted);
        if (wanted === controls.settings.workload) updateSoon();
      } catch (error) {
        controls.choose("workload", atlases.current.constants.workload);
        showLink();
        say(words.fill("workload_failed", { reason: error.message }));
      }
    }

    const showLink = () => {
      embedding.show();
      clearTimeout(linkTimer);
      linkTimer = setTimeout(() => link.show(), LINK_DELAY_MS);
    };

    say(...notices);
    update();
    embedding.show();

    controls.addEventListener("change", () => {
      say();
      if (whose.shown || controls.settings.workload === atlases.current.constants.workload) updateSoon();
      else changeWorkload();
      showLink();
    });
    for (const each of Object.values(sections)) {
      each.addEventListener("change", () => {
        say();
        showLink();
      });
    }
    kvsim.whenColoursChange(() => {
      charts.repaint();
      Object.values(drawings).forEach((drawing) => drawing.repaint());
    });

    // What is drawn beside the chart keeps to its place; everything else answers to the style sheet.
    const fit = () => {
      marker.put();
      strips.update(shown.reading, shown.known);
    };
    new ResizeObserver(() => requestAnimationFrame(fit)).observe(marker.place);

    document.getElementById("reset").addEventListener("click", () => {
      link.move(view.movable(link.defaults));
      say(words.fill(view.hidden.size ? "reset_shown" : "reset_done", {}));
    });
    const but = () => (whose.shown ? words.fill("own_not_in_link", {}) : "");
    const copied = () => {
      link.show();
      return link.write();
    };
    kvsim.copyOnClick("copy-link", notice, words, kvsim.isFramed ? "framed" : "link", copied, but);
    const line = () => embedding.text;
    const embedNotice = document.getElementById("embed-notice");
    kvsim.copyOnClick("copy-frame", notice, words, "frame", line, but);
    kvsim.copyOnClick("copy-embed", embedNotice, words, "embed", line, but);
    const now = () => shown;
    const address = () => (link.addressed && !whose.shown ? link.write() : "");
    const { version, charts: items } = page;
    const taking = new kvsim.Taking({ now, address, whose, items, controls, stage, words, version });
    kvsim.offerHandout(words, say, address);
    kvsim.offerCitations(words);
    kvsim.offerReport({ words, version, now, address, whose, settings: () => taking.settings() });
    link.follow(document.getElementById("workshop"));
    new kvsim.YourServer(page, words, controls, whose);
    document.documentElement.dataset.ready = "";
    kvsim.openOvercommit(page.files.overcommit, sections.overcommit, words);

    kvsim.startSharing(page.files.sharing, controls, sections.sharing, words);

    // The films come last: everything else works without them.
    try {
      const films = await kvsim.openFilms(await kvsim.bytesAt(page.files.films));
      const maker = page.files.film;
      stage.useFilms(films, maker && ((settings) => link.query(maker, settings)));
    } catch (error) {
      stage.giveUp();
      say(words.fill("films_failed", { reason: error.message }));
    }
    document.documentElement.dataset.films = "";
  }

  function byKind(make) {
    return Object.fromEntries(["contiguous", "paged"].map((kind) => [kind, make(kind)]));
  }

  start();
})((window.kvsim ??= {}));
