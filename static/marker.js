/* The marker in the right chart: a handle on the chosen rate, which moves the rate slider. */
(function (kvsim) {
  "use strict";

  const REACH_PX = 24; // a press this close to the line takes it

  kvsim.Marker = class {
    /** The slider says the same to keyboards and screen readers, so the handle is hidden to them.
        One that is `fixed` cannot be moved. */
    constructor(charts, controls, fixed) {
      this.charts = charts;
      this.controls = controls;
      this.place = document.getElementById("ttft-chart");
      this.handle = document.createElement("div");
      this.handle.className = "marker-handle";
      this.handle.setAttribute("aria-hidden", "true");
      this.place.append(this.handle);
      if (fixed) return;
      this.place.addEventListener("pointerdown", (event) => this.press(event), true);
      this.place.addEventListener("pointermove", (event) => this.drag(event), true);
      for (const end of ["pointerup", "pointercancel"]) {
        this.place.addEventListener(end, () => this.release(), true);
      }
    }

    update(reading, words) {
      this.rate = reading.settings.rate;
      this.rates = reading.rates;
      this.handle.textContent = words.rate;
      this.put();
    }

    put() {
      const { left, top, width } = this.place.getBoundingClientRect();
      const axis = this.charts.rateAxis();
      // Wholly within the chart: a phone has nothing beside it.
      const half = this.handle.offsetWidth / 2;
      const x = Math.min(Math.max(axis.position(this.rate) - left, half), width - half);
      this.handle.style.left = `${x}px`;
      this.handle.style.top = `${axis.top - top - this.handle.offsetHeight}px`;
    }

    press(event) {
      if (event.button || !event.isPrimary) return;
      const away = Math.abs(event.clientX - this.charts.rateAxis().position(this.rate));
      if (event.target !== this.handle && away > REACH_PX) return;
      event.preventDefault();
      this.place.setPointerCapture(event.pointerId);
      this.place.classList.add("dragging");
      this.dragging = true;
    }

    drag(event) {
      if (!this.dragging) return;
      const under = this.charts.rateAxis().rate(event.clientX);
      const distances = this.rates.map((rate) => Math.abs(rate - under));
      const index = distances.indexOf(Math.min(...distances));
      if (index !== this.controls.index("rate")) this.controls.move({ rate: index });
    }

    release() {
      this.dragging = false;
      this.place.classList.remove("dragging");
    }
  };
})((window.kvsim ??= {}));
