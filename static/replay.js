/* The replay of a film: who holds which units of the cache in each pass, and what they hold.

   Nothing is decided here: which request enters, leaves or is pre-empted in which pass comes with
   the film. Addresses are handed out as kvsim/addresses.py does, and tests compare the two. */
(function (kvsim) {
  "use strict";

  /** Units that are all alike: the one given back last is handed out first. */
  class FreeList {
    constructor(units) {
      this.free = Int32Array.from({ length: units }, (_, unit) => units - 1 - unit);
      this.count = units;
    }

    take() {
      return this.free[--this.count];
    }

    giveBack(units, count) {
      for (let last = count - 1; last >= 0; last--) this.free[this.count++] = units[last];
    }
  }

  kvsim.Replay = class {
    /** `film` as kvsim.Films gives it; `unit` are the tokens of a slot or a block, `capacity` those
        of the cache. A request holds one slot ("slots"), or as many blocks as it fills ("blocks"),
        or the run of blocks that it reserved ("runs"). */
    constructor(film, kind, unit, capacity) {
      Object.assign(this, film, { unit, capacity });
      this.way = kind === "paged" ? "blocks" : film.runStart.length ? "runs" : "slots";
      this.units = Math.floor(capacity / unit);
      this.count = film.request.length;
      this.passes = film.clockPass[film.clockPass.length - 1] ?? 0;
      this.final = film.prompt.map((tokens, request) => tokens + film.output[request] - 1);
      this.stays();
      this.seen();
      if (this.way === "runs") this.placeRuns();
      else this.place();
    }

    /** First tokens and last pass of every stay; one that returns brings one token more. */
    stays() {
      this.firstTokens = new Int32Array(this.count);
      this.lastPass = new Int32Array(this.count);
      const evictedPass = new Map();
      this.evicted.forEach((stay, index) => evictedPass.set(stay, this.evictedPass[index]));
      const held = new Map(); // tokens of pre-empted requests
      for (let stay = 0; stay < this.count; stay++) {
        const request = this.request[stay];
        const first = held.has(request) ? held.get(request) + 1 : this.prompt[request];
        this.firstTokens[stay] = first;
        const ends = this.firstPass[stay] + this.final[request] - first;
        this.lastPass[stay] = evictedPass.get(stay) ?? ends;
        if (evictedPass.has(stay)) held.set(request, this.tokens(stay, this.lastPass[stay]));
      }
    }

    /** Cached tokens of a stay when pass q ends. */
    tokens(stay, q) {
      return this.firstTokens[stay] + q - this.firstPass[stay];
    }

    /** Prompt and output tokens of a stay's request. */
    lengthOf(stay) {
      return this.prompt[this.request[stay]] + this.output[this.request[stay]];
    }

    /** Units that a stay holds in pass q. */
    held(stay, q) {
      if (this.way === "blocks") return Math.ceil(this.tokens(stay, q) / this.unit);
      return this.way === "runs" ? this.runBlocks[stay] : 1;
    }

    /** Runs come with their addresses. */
    placeRuns() {
      this.places = Array.from(this.runStart, (start, stay) =>
        Int32Array.from({ length: this.runBlocks[stay] }, (_, index) => start + index),
      );
    }

    /** Whether the head of the queue waits in pass q although enough is free: in holes too small. */
    isScattered(q) {
      let changes = 0;
      while (changes < this.scattered.length && this.scattered[changes] <= q) changes++;
      return changes % 2 === 1;
    }

    /** Hand out addresses through the whole film. A stay's units never move, so a list of each
        one's, in the order of its tokens, says where it lies in every pass. */
    place() {
      const list = new FreeList(this.units);
      const leaving = new Map(); // pass before which stays have ended -> them
      this.places = new Array(this.count);
      for (let stay = 0; stay < this.count; stay++) {
        const last = Math.min(this.lastPass[stay], this.passes - 1);
        this.places[stay] = new Int32Array(this.held(stay, last));
        const after = this.lastPass[stay] + 1;
        if (!leaving.has(after)) leaving.set(after, []);
        leaving.get(after).push(stay);
      }
      let running = [];
      let entering = 0;
      for (let q = 0; q < this.passes; q++) {
        const gone = leaving.get(q) ?? [];
        const evicted = [];
        for (const stay of gone) {
          if (this.isEvicted(stay)) evicted.push(stay);
          else this.leave(list, stay, q);
        }
        if (gone.length) running = running.filter((stay) => this.lastPass[stay] >= q);
        if (this.way === "blocks") {
          for (const stay of running) {
            const held = this.held(stay, q);
            if (held === this.held(stay, q - 1)) continue;
            // Blocks are short: the newest goes, as often as it takes.
            while (!list.count) {
              if (!evicted.length) throw new Error("this film needs more blocks than there are");
              this.leave(list, evicted.pop(), q);
            }
            this.places[stay][held - 1] = list.take();
          }
        }
        while (evicted.length) this.leave(list, evicted.pop(), q);
        for (; entering < this.count && this.firstPass[entering] === q; entering++) {
          const place = this.places[entering];
          const held = this.held(entering, q);
          for (let index = 0; index < held; index++) place[index] = list.take();
          running.push(entering);
        }
      }
    }

    leave(list, stay, q) {
      list.giveBack(this.places[stay], this.held(stay, q - 1));
    }

    isEvicted(stay) {
      return this.tokens(stay, this.lastPass[stay]) < this.final[this.request[stay]];
    }

    /** The pass under way at a time; -1 while the server is idle. */
    passAt(time) {
      const tick = time / this.tick;
      let low = 0;
      let high = this.clockTick.length - 1;
      // The last pass reaches beyond the film, by less than a tick perhaps.
      if (high < 0 || tick < this.clockTick[0] || tick > this.clockTick[high]) return -1;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (this.clockTick[middle] <= tick) low = middle;
        else high = middle;
      }
      const passes = this.clockPass[high] - this.clockPass[low];
      if (passes === 0) return -1;
      const gone = (tick - this.clockTick[low]) / (this.clockTick[high] - this.clockTick[low]);
      return this.clockPass[low] + Math.min(Math.floor(gone * passes), passes - 1);
    }

    /** When pass q starts, in seconds. */
    timeOf(q) {
      let [low, high] = [0, this.clockPass.length - 1];
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (this.clockPass[middle] <= q) low = middle;
        else high = middle;
      }
      const corner = low;
      const passes = this.clockPass[corner + 1] - this.clockPass[corner];
      const ticks = this.clockTick[corner + 1] - this.clockTick[corner];
      const share = passes ? (q - this.clockPass[corner]) / passes : 0;
      return (this.clockTick[corner] + share * ticks) * this.tick;
    }

    /** The first time after another that somebody enters or has left; Infinity after the last. */
    nextEventTime(time) {
      let next = Infinity;
      for (let stay = 0; stay < this.count; stay++) {
        for (const q of [this.firstPass[stay], this.lastPass[stay] + 1]) {
          if (q >= next || q >= this.passes) continue;
          // A moment later than its start, so that the clock is surely within the pass.
          if (this.timeOf(q) > time + this.tick) next = q;
        }
      }
      return next === Infinity ? Infinity : this.timeOf(next) + this.tick;
    }

    /** The stays that run in pass q, oldest admission first. */
    runningIn(q) {
      const running = [];
      for (let stay = 0; stay < this.count && this.firstPass[stay] <= q; stay++) {
        if (this.lastPass[stay] >= q) running.push(stay);
      }
      return running;
    }

    /** Everything at a time: the pass, who runs, who waits (request numbers), and the parts. */
    at(time) {
      const q = this.passAt(time);
      const running = q < 0 ? [] : this.runningIn(q);
      const waiting = q < 0 ? [] : this.waitingIn(q, running);
      return { time, q, running, waiting, parts: this.parts(q, running) };
    }

    /** Requests that had arrived when pass q began, and were not admitted to it. */
    waitingIn(q, running) {
      const away = new Set(running.map((stay) => this.request[stay]));
      for (let stay = 0; stay < this.count && this.firstPass[stay] <= q; stay++) {
        if (this.lastPass[stay] < q && !this.isEvicted(stay)) away.add(this.request[stay]);
      }
      const waiting = [];
      for (let request = 0; this.seenPass[request] <= q; request++) {
        if (!away.has(request)) waiting.push(request);
      }
      return waiting;
    }

    /** The first pass that begins with each request there; the film says where its clock, which
        is not as exact as the run's, would have it wrong. */
    seen() {
      this.seenPass = new Int32Array(this.arrival.length);
      let q = 0;
      this.arrival.forEach((arrival, request) => {
        while (q < this.passes && this.timeOf(q) < arrival) q++;
        this.seenPass[request] = q;
      });
      this.seenRequest.forEach((request, index) => {
        this.seenPass[request] = this.seenIn[index];
      });
    }

    /** What the tokens of the cache are used for, in the paper's terms (kvsim/accounting.py); they
        add up to the capacity. */
    parts(q, running) {
      const parts = { tokens: 0, reserved: 0, internal: 0, ends: 0, rounding: 0, external: 0, free: 0 };
      for (const stay of running) {
        const tokens = this.tokens(stay, q);
        const reserved = this.reservedBy(stay, tokens);
        const used = Math.min(reserved, this.lengthOf(stay)); // sooner or later
        const whole = Math.ceil(reserved / this.unit) * this.unit;
        parts.tokens += tokens;
        parts.reserved += used - tokens;
        parts.internal += reserved - used;
        parts.ends += whole - reserved;
        parts.rounding += this.held(stay, q) * this.unit - whole;
      }
      const held = Object.values(parts).reduce((sum, tokens) => sum + tokens, 0);
      // What is left over from the division into units is free, and of no use to anybody.
      if (this.isScattered(q)) parts.external = this.units * this.unit - held;
      parts.free = this.capacity - held - parts.external;
      return parts;
    }

    /** Tokens that a stay holds memory for, with so many cached. */
    reservedBy(stay, tokens) {
      if (this.way === "blocks") return tokens;
      return this.way === "runs" ? this.runReserved[stay] : this.unit;
    }
  };
})((window.kvsim ??= {}));
