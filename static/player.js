/* The player: runs both films by one clock, and shows what the caches hold at its time. */
(function (kvsim) {
  "use strict";

  const KINDS = ["contiguous", "paged"];
  const LEAST_FRAME_MS = 30;
  const RUN_BLOCK_TOKENS = 16; // of the blocks that Buddy and FirstFit divide the cache into

  kvsim.Player = class extends EventTarget {
    /** Dispatches "show" with every moment that it shows, "run" as the film starts and stops. */
    constructor(words, drawings) {
      super();
      this.words = words;
      this.drawings = drawings;
      this.play = document.getElementById("play");
      this.step = document.getElementById("step");
      this.clock = document.getElementById("clock");
      this.clockShown = document.getElementById("clock-shown");
      this.speed = document.getElementById("speed");
      this.note = document.getElementById("film-note");
      this.time = Number(this.clock.max) / 10; // it stands still at the end of the minute
      this.playing = false;
      this.onScreen = true;
      this.play.addEventListener("click", () => this.run(!this.playing));
      this.step.addEventListener("click", () => this.toNextEvent());
      this.clock.addEventListener("input", () => {
        this.run(false);
        this.go(this.clock.valueAsNumber / 10);
      });
      new IntersectionObserver(([entry]) => {
        this.onScreen = entry.isIntersecting;
        this.last = undefined;
      }).observe(document.getElementById("cache-figure"));
      document.addEventListener("visibilitychange", () => (this.last = undefined));
      this.enable(false);
    }

    get duration() {
      return Number(this.clock.max) / 10;
    }

    /** Show a reading of the atlas, with films of both caches or, without any, its last moment. */
    load(reading, films) {
      this.reading = reading;
      const { settings, capacity } = reading;
      const units = {
        contiguous: settings.reservation === "slots" ? settings.max_length : RUN_BLOCK_TOKENS,
        paged: settings.block_size,
      };
      this.units = units;
      this.replays = null;
      if (films) {
        this.replays = {};
        for (const kind of KINDS) {
          this.replays[kind] = new kvsim.Replay(films[kind], kind, units[kind], capacity);
        }
      } else {
        this.run(false);
      }
      this.enable(Boolean(films));
      this.go(films ? this.time : this.duration);
    }

    enable(possible) {
      for (const control of [this.play, this.step, this.clock, this.speed]) {
        control.disabled = !possible;
      }
    }

    /** Start or stop; from the end it starts again at the beginning. */
    run(playing) {
      this.playing = playing;
      this.play.textContent = this.words.fill(playing ? "pause" : "play", {});
      this.dispatchEvent(new Event("run"));
      if (!playing) return;
      if (this.time >= this.duration) this.go(0);
      this.last = undefined;
      requestAnimationFrame((now) => this.frame(now));
    }

    frame(now) {
      if (!this.playing) return;
      requestAnimationFrame((next) => this.frame(next));
      if (!this.onScreen || document.hidden) return;
      const passed = this.last === undefined ? 0 : now - this.last;
      if (this.last !== undefined && passed < LEAST_FRAME_MS) return;
      this.last = now;
      const seconds = (passed / 1000) * Number(this.speed.value);
      this.go(Math.min(this.time + seconds, this.duration));
      if (this.time >= this.duration) this.run(false);
    }

    /** On to the next time that a request enters or has left either cache. */
    toNextEvent() {
      this.run(false);
      const times = KINDS.map((kind) => this.replays[kind].nextEventTime(this.time));
      this.go(Math.min(...times, this.duration));
    }

    go(time) {
      this.time = time;
      this.clock.value = Math.round(time * 10);
      const text = this.words.fill("second", { count: this.words.fixed(time, 1) });
      this.clock.setAttribute("aria-valuetext", text);
      this.clockShown.textContent = text;
      this.show();
    }

    /** Point out a request, by its number, or none. */
    choose(request) {
      this.chosen = request;
      this.show();
    }

    /** Draw both caches at the clock's time. */
    show() {
      if (!this.reading) return;
      this.states = {};
      for (const kind of KINDS) {
        const drawing = this.drawings[kind];
        if (this.replays) {
          const replay = this.replays[kind];
          this.states[kind] = replay.at(this.time);
          drawing.show(kvsim.replayScene(replay, this.states[kind], this.chosen));
        } else {
          const { capacity, settings } = this.reading;
          const placed = kind === "paged" || settings.reservation === "slots";
          const known = placed && this.reading[kind].computed;
          drawing.show(
            known
              ? kvsim.stillScene(this.reading[kind], kind, this.units[kind], capacity)
              : kvsim.blankScene(capacity),
          );
        }
      }
      this.dispatchEvent(new Event("show"));
    }
  };
})((window.kvsim ??= {}));
