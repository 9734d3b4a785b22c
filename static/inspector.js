/* The inspector: points out one request in both caches, by pointer or arrow keys, and describes it. */
(function (kvsim) {
  "use strict";

  const KINDS = ["contiguous", "paged"];
  const ROWS = 6; // of a block table; a longer one shows its first and last rows

  kvsim.Inspector = class {
    constructor(player, drawings, words) {
      this.player = player;
      this.words = words;
      this.text = document.getElementById("request-shown");
      this.table = document.getElementById("block-table");
      for (const kind of KINDS) this.listen(kind, drawings[kind]);
      player.addEventListener("show", () => this.describe());
      // While the film plays the sentence changes with every frame: too fast to be read aloud.
      player.addEventListener("run", () => {
        this.text.setAttribute("aria-live", player.playing ? "off" : "polite");
      });
    }

    listen(kind, drawing) {
      const view = drawing.canvas.parentElement;
      drawing.canvas.addEventListener("pointermove", (event) => {
        if (event.pointerType === "mouse") this.point(kind, drawing, event);
      });
      drawing.canvas.addEventListener("click", (event) => this.point(kind, drawing, event));
      drawing.canvas.addEventListener("pointerleave", (event) => {
        if (event.pointerType === "mouse" && document.activeElement !== view) this.choose(undefined);
      });
      view.addEventListener("keydown", (event) => this.key(kind, event));
    }

    point(kind, drawing, event) {
      if (!this.player.replays) return;
      const { left, top } = drawing.canvas.getBoundingClientRect();
      const address = drawing.addressAt(event.clientX - left, event.clientY - top);
      const stay = address < 0 ? -1 : drawing.scene.ownerOf(address);
      if (stay >= 0) this.choose(this.player.replays[kind].request[stay]);
    }

    /** Arrow keys go from request to request in the order of their admission. */
    key(kind, event) {
      const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
      if (!this.player.replays) return;
      const replay = this.player.replays[kind];
      const requests = this.player.states[kind].running.map((stay) => replay.request[stay]);
      if (event.key === "Escape") {
        this.choose(undefined);
      } else if (event.key in steps && requests.length) {
        event.preventDefault();
        const step = steps[event.key];
        const from = requests.indexOf(this.chosen);
        const start = step > 0 ? 0 : requests.length - 1;
        const to = from < 0 ? start : (from + step + requests.length) % requests.length;
        this.choose(requests[to]);
      }
    }

    choose(request) {
      if (request === this.chosen) return;
      this.chosen = request;
      this.player.choose(request);
    }

    /** Say where the request is in either cache; where it is paged, show its block table. */
    describe() {
      const { words } = this;
      this.table.replaceChildren();
      // Another film may not have the request that was chosen.
      if (this.chosen >= this.player.replays?.paged.prompt.length) this.chosen = undefined;
      if (this.chosen === undefined || !this.player.replays) {
        this.say(words.fill(this.player.replays ? "inspect_hint" : "inspect_none", {}));
        return;
      }
      const found = Object.fromEntries(KINDS.map((kind) => [kind, this.find(kind)]));
      const { prompt, output } = this.player.replays.paged;
      const number = words.count(this.chosen + 1);
      this.say(
        words.fill("request_lengths", {
          number,
          prompt: words.tokens(prompt[this.chosen]),
          output: words.tokens(output[this.chosen]),
        }),
        ...KINDS.map((kind) => this.sentence(kind, found[kind])),
      );
      if (found.paged) this.fillTable(number, found.paged);
    }

    say(...sentences) {
      kvsim.sayOnce(this.text, sentences.join(" "));
    }

    find(kind) {
      const replay = this.player.replays[kind];
      const { running, q } = this.player.states[kind];
      const stay = running.find((each) => replay.request[each] === this.chosen);
      if (stay === undefined) return null;
      const tokens = replay.tokens(stay, q);
      const held = replay.held(stay, q);
      return { replay, tokens, held, place: replay.places[stay].subarray(0, held) };
    }

    sentence(kind, found) {
      const { words } = this;
      if (!found) {
        const waits = this.player.states[kind].waiting.includes(this.chosen);
        return words.fill(`${kind}_${waits ? "waits" : "absent"}`, {});
      }
      const { replay, tokens, held, place } = found;
      return words.fill(replay.way === "runs" ? "contiguous_run_holds" : `${kind}_holds`, {
        produced: words.count(tokens - replay.prompt[this.chosen] + 1),
        output: words.count(replay.output[this.chosen]),
        tokens: words.tokens(tokens),
        reserved: words.tokens(held * replay.unit),
        empty: words.tokens(held * replay.unit - tokens),
        place: words.count(place[0]),
        blocks: words.fill(held === 1 ? "blocks_one" : "blocks", { count: words.count(held) }),
      });
    }

    /** Positions to blocks, as the server looks them up; long tables are cut in the middle. */
    fillTable(number, { replay, tokens, place }) {
      const { words } = this;
      const rows = [...place.keys()];
      const cut = rows.length > ROWS;
      const shown = cut ? [...rows.slice(0, ROWS / 2), null, ...rows.slice(-ROWS / 2)] : rows;
      this.table.createCaption().textContent = words.fill("block_table", { number });
      const head = this.table.createTHead().insertRow();
      for (const heading of ["positions", "block", "filled"]) {
        const cell = document.createElement("th");
        cell.scope = "col";
        cell.textContent = words.fill(heading, {});
        head.append(cell);
      }
      const body = this.table.createTBody();
      for (const index of shown) {
        const row = body.insertRow();
        const first = index * replay.unit;
        const filled = Math.min(replay.unit, tokens - first);
        const cells =
          index === null
            ? ["…", "…", "…"]
            : [
                words.fill("range", { first: words.count(first), last: words.count(first + replay.unit - 1) }),
                words.count(place[index]),
                words.fill("filled_of", { filled, unit: replay.unit }),
              ];
        const positions = document.createElement("th");
        positions.scope = "row";
        row.append(positions);
        for (const [column, text] of cells.entries()) {
          (column ? row.insertCell() : positions).textContent = text;
        }
      }
    }
  };
})((window.kvsim ??= {}));
