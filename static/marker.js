/* The marker in the right chart: a handle on the chosen rate, which moves the rate slider. */
(function (kvsim) {
  "use strict";

  const REACH_PX = 24; // a press this close to the line takes it

  kvsim.Marker = class {
    /** The slider says the same to keyboards and screen readers, so the handle is hidden to them. */
    constructor(charts, controls, rates) {
      this.charts = charts;
      this.controls = controls;
      this.rates = rates;
      this.place = document.getElementById("ttft-chart");
      this.handle = document.createElement("div");
      this.handle.className = "marker-handle";
      this.handle.setAttribute("aria-hidden", "true");
      this.place.append(this.handle);
      this.place.addEventListener("pointerdown", (event) => this.press(event), true);
      this.place.addEventListener("pointermove", (event) => this.drag(event), true);
      for (const end of ["pointerup", "pointercancel"]) {
        this.place.addEventListener(end, () => this.release(), true);
      }
    }

    update(reading, words) {
      this.rate = reading.settings.rate;
      this.handle.textContent = words.rate;
      this.put();
    }

    put() {
      const { left, right, top } = this.charts.frame("ttft");
      const place = this.place.getBoundingClientRect();
      const x = left - place.left + (this.rate / this.most) * (right - left);
      this.handle.style.left = `${x}px`;
      this.handle.style.top = `${top - place.top}px`;
    }

    get most() {
      return this.rates[this.rates.length - 1];
    }

    /** The rate under a pointer. */
    under(event) {
      const { left, right } = this.charts.frame("ttft");
      return ((event.clientX - left) / (right - left)) * this.most;
    }

    press(event) {
      const { left, right } = this.charts.frame("ttft");
      const away = (Math.abs(this.under(event) - this.rate) / this.most) * (right - left);
      if (event.target !== this.handle && away > REACH_PX) return;
      event.preventDefault();
      this.place.setPointerCapture(event.pointerId);
      this.place.classList.add("dragging");
      this.dragging = true;
    }

    drag(event) {
      if (!this.dragging) return;
      const rate = Math.round(this.under(event));
      const index = Math.min(Math.max(rate - this.rates[0], 0), this.rates.length - 1);
      if (index !== this.controls.index("rate")) this.controls.move({ rate: index });
    }

    release() {
      this.dragging = false;
      this.place.classList.remove("dragging");
    }
  };
})((window.kvsim ??= {}));
