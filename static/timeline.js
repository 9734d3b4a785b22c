/* The minute as a timeline: blocks in use above, pre-emptions below; each can be pointed at. */
(function (kvsim) {
  "use strict";

  const SVG = "http://www.w3.org/2000/svg";
  const HELD_SHARE = 0.36; // of the height, for the blocks in use
  const GAP_PX = 26;
  const AXIS_PX = 22;
  const TOP_PX = 20;
  const EDGE_PX = 1;
  const MARK_PX = { width: 3, height: 7 };
  const CHOSEN_PX = { width: 5, height: 13 };
  const TICK_S = 10;
  const REACH_PX = 40;

  kvsim.Timeline = class extends EventTarget {
    /** Dispatches "choose" when another pre-emption, or none, is pointed at: see `chosen`. */
    constructor(words) {
      super();
      this.words = words;
      this.view = document.getElementById("timeline");
      this.drawing = document.getElementById("timeline-drawing");
      this.view.addEventListener("pointermove", (event) => {
        if (event.pointerType === "mouse") this.point(event);
      });
      this.view.addEventListener("click", (event) => this.point(event));
      this.view.addEventListener("pointerleave", (event) => {
        if (event.pointerType === "mouse" && document.activeElement !== this.view) {
          this.choose(undefined);
        }
      });
      this.view.addEventListener("keydown", (event) => this.key(event));
      new ResizeObserver(() => this.minute && this.draw()).observe(this.view);
    }

    /** Show a minute: `held` (shares of all blocks, once a second), `events` in order of time,
        `seconds`, `requests` (as many arrive about) and `full` (what stands at the top line). */
    show(minute) {
      this.minute = minute;
      this.chosen = undefined;
      this.draw();
      this.dispatchEvent(new Event("choose"));
    }

    draw() {
      const { minute } = this;
      const { width, height } = this.drawing.getBoundingClientRect();
      if (!width) return;
      this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`); // for paper, which is narrower
      const heldBottom = TOP_PX + HELD_SHARE * (height - TOP_PX - GAP_PX - AXIS_PX);
      const marksTop = heldBottom + GAP_PX;
      const bottom = height - AXIS_PX;
      this.x = (seconds) => EDGE_PX + (seconds / minute.seconds) * (width - 2 * EDGE_PX);
      this.y = (request) => bottom - (request / minute.requests) * (bottom - marksTop);

      const heldY = (share) => heldBottom - share * (heldBottom - TOP_PX);
      const line = minute.held.map((share, second) => `${this.x(second)},${heldY(share)}`);
      const [left, right] = [this.x(0), this.x(minute.seconds)];
      const texts = [[left, TOP_PX - 6, minute.full, "start"]];
      for (let second = 0; second <= minute.seconds; second += TICK_S) {
        const anchor = second === 0 ? "start" : second === minute.seconds ? "end" : "middle";
        const text = this.words.fill("seconds_axis", { count: second });
        texts.push([this.x(second), height - 5, text, anchor]);
      }
      const first = this.words.fill("requests_axis", { count: 1 });
      const last = this.words.fill("requests_axis", { count: this.words.count(minute.requests) });
      texts.push([right - 5, bottom - 6, first, "end"], [left + 5, marksTop + 14, last, "start"]);

      this.guide = element("line", { class: "guide", y1: TOP_PX, y2: bottom });
      this.marks = minute.events.map(() => element("rect", { class: "mark" }));
      this.drawing.replaceChildren(
        element("polygon", {
          class: "held",
          points: [`${left},${heldBottom}`, ...line, `${right},${heldBottom}`].join(" "),
        }),
        element("line", { class: "full", x1: left, x2: right, y1: TOP_PX, y2: TOP_PX }),
        element("rect", {
          class: "frame",
          x: left,
          y: marksTop,
          width: right - left,
          height: bottom - marksTop,
        }),
        ...texts.map(([x, y, text, anchor]) => {
          const label = element("text", { x, y, "text-anchor": anchor });
          label.textContent = text;
          return label;
        }),
        // Requests come evenly on average; what lies between them and the marks is the queue.
        element("line", {
          class: "arrivals",
          x1: left,
          x2: right,
          y1: this.y(0),
          y2: this.y(minute.requests),
        }),
        this.guide,
        ...this.marks,
      );
      this.marks.forEach((_, place) => this.place(place));
      this.pointOut();
    }

    /** Put a mark at its time and request; the chosen one is larger. */
    place(place) {
      const { evicted_s, away_s, request } = this.minute.events[place];
      const chosen = place === this.chosen;
      const size = chosen ? CHOSEN_PX : MARK_PX;
      const most = this.x(this.minute.seconds);
      const start = Math.min(this.x(evicted_s), most - size.width);
      const end = Math.min(this.x(evicted_s + away_s), most);
      const mark = this.marks[place];
      mark.setAttribute("class", chosen ? "mark chosen" : "mark");
      set(mark, {
        x: start,
        y: this.y(request) - size.height / 2,
        width: Math.max(end - start, size.width),
        height: size.height,
      });
    }

    pointOut() {
      const event = this.minute.events[this.chosen];
      this.guide.style.display = event ? "" : "none";
      if (!event) return;
      set(this.guide, { x1: this.x(event.evicted_s), x2: this.x(event.evicted_s) });
      this.guide.after(this.marks[this.chosen]);
      this.drawing.append(this.marks[this.chosen]);
    }

    /** Choose the mark that is nearest to the pointer, within reach. */
    point(event) {
      if (!this.minute) return;
      const { left, top } = this.drawing.getBoundingClientRect();
      const [x, y] = [event.clientX - left, event.clientY - top];
      const away = this.minute.events.map(({ evicted_s, request }) =>
        Math.hypot(this.x(evicted_s) - x, this.y(request) - y),
      );
      const nearest = Math.min(...away);
      this.choose(nearest <= REACH_PX ? away.indexOf(nearest) : undefined);
    }

    /** Arrow keys go from one pre-emption to the next, in order of time. */
    key(event) {
      const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
      const count = this.minute?.events.length ?? 0;
      if (event.key === "Escape") {
        this.choose(undefined);
      } else if (event.key in steps && count) {
        event.preventDefault();
        const step = steps[event.key];
        const start = step > 0 ? -1 : 0;
        this.choose(((this.chosen ?? start) + step + count) % count);
      }
    }

    choose(place) {
      if (place === this.chosen) return;
      const before = this.chosen;
      this.chosen = place;
      for (const each of [before, place]) if (each !== undefined) this.place(each);
      this.pointOut();
      this.dispatchEvent(new Event("choose"));
    }
  };

  function element(name, attributes) {
    const made = document.createElementNS(SVG, name);
    set(made, attributes);
    return made;
  }

  function set(changed, attributes) {
    for (const [name, value] of Object.entries(attributes)) changed.setAttribute(name, value);
  }
})((window.kvsim ??= {}));
