/* The cache, drawn to scale: every token position in address order, as lines of print.

   Addresses run down the few pixels of a line's height, then on along the line, then to the next
   line. A pixel stands for the same number of tokens everywhere; where it holds several kinds, it
   is their mixture. */
(function (kvsim) {
  "use strict";

  const LINE_PX = 9;
  const GAP_PX = 2;
  const HATCH_PX = 5;
  const LEAST_BLOCK_PX = 24; // smaller blocks of one request are not told apart

  kvsim.CacheDrawing = class {
    /** Draws into the canvas of one allocation ("contiguous" or "paged"). */
    constructor(kind) {
      this.kind = kind;
      this.canvas = document.getElementById(`cache-${kind}`);
      new ResizeObserver(() => this.draw()).observe(this.canvas);
      this.repaint();
    }

    repaint() {
      const names = { tokens: "", other: "-tint", empty: "-empty", hatch: "-tint" };
      this.colours = { free: channels(kvsim.colour("free")) };
      for (const [use, suffix] of Object.entries(names)) {
        this.colours[use] = channels(kvsim.colour(this.kind + suffix));
      }
      this.draw();
    }

    update(reading) {
      this.capacity = reading.capacity;
      this.side = reading[this.kind];
      this.draw();
    }

    /** Tokens that one line of the drawing stands for. */
    get tokensPerLine() {
      return this.layout ? this.capacity / this.layout.lines : NaN;
    }

    draw() {
      const width = this.canvas.clientWidth;
      const height = this.canvas.clientHeight;
      if (!this.side || !width || !height) return;
      const scale = window.devicePixelRatio || 1;
      const columns = Math.round(width * scale);
      const line = Math.round(LINE_PX * scale);
      const pitch = line + Math.round(GAP_PX * scale);
      const lines = Math.floor((Math.round(height * scale) + pitch - line) / pitch);
      this.layout = { lines, columns, line, pitch, scale };
      this.canvas.width = columns;
      this.canvas.height = lines * pitch;
      const strip = new Strip(columns * line * lines, this.capacity, this.colours);
      this.paintContent(strip);
      this.print(strip);
    }

    /** Lay the running requests one behind the other, each with what it reserves. */
    paintContent(strip) {
      const { unit, tokens } = this.side;
      const blocksVisible = this.kind === "paged" && unit / strip.tokensPerPixel >= LEAST_BLOCK_PX;
      tokens.forEach((held, request) => {
        const tone = request % 2 ? "other" : "tokens";
        if (blocksVisible) {
          for (let left = held; left > 0; left -= unit) {
            const filled = Math.min(left, unit);
            const edge = Math.min(strip.tokensPerPixel * 2, filled);
            strip.run("empty", edge);
            strip.run(tone, filled - edge);
            strip.run("empty", unit - filled, true);
          }
        } else {
          strip.run(tone, held);
          strip.run("empty", Math.ceil(held / unit) * unit - held, true);
        }
      });
      strip.run("free", Infinity);
    }

    /** Break the strip into lines. */
    print(strip) {
      const { lines, columns, line, pitch, scale } = this.layout;
      const image = new ImageData(columns, lines * pitch);
      const pixels = new Uint32Array(image.data.buffer);
      const period = Math.round(HATCH_PX * scale);
      const stroke = Math.max(1, Math.round(scale));
      const hatch = packed(this.colours.hatch);
      let address = 0;
      for (let row = 0; row < lines; row++) {
        for (let x = 0; x < columns; x++) {
          for (let y = row * pitch; y < row * pitch + line; y++) {
            const hatched = strip.hatched[address] && (x + y) % period < stroke;
            pixels[y * columns + x] = hatched ? hatch : strip.pixels[address];
            address++;
          }
        }
      }
      this.canvas.getContext("2d").putImageData(image, 0, 0);
    }
  };

  /** All pixels in address order, filled run by run; a pixel mixes the runs that meet in it. */
  class Strip {
    constructor(length, tokens, colours) {
      this.pixels = new Uint32Array(length);
      this.hatched = new Uint8Array(length);
      this.tokensPerPixel = tokens / length;
      this.colours = Object.fromEntries(
        Object.entries(colours).map(([use, colour]) => [use, { colour, packed: packed(colour) }]),
      );
      this.position = 0; // in pixels
      this.mixed = [0, 0, 0]; // of the pixel under way
    }

    run(use, tokens, hatched = false) {
      if (tokens <= 0) return;
      const { colour, packed: whole } = this.colours[use];
      const end = Math.min(this.position + tokens / this.tokensPerPixel, this.pixels.length);
      const first = Math.floor(this.position);
      if (end < first + 1) {
        this.mix(colour, end - this.position);
      } else {
        if (this.position > first) {
          this.mix(colour, first + 1 - this.position);
          this.pixels[first] = packed(this.mixed);
        }
        const start = Math.ceil(this.position);
        const stop = Math.floor(end);
        this.pixels.fill(whole, start, stop);
        if (hatched) this.hatched.fill(1, start, stop);
        this.mixed = [0, 0, 0];
        this.mix(colour, end - stop);
      }
      this.position = end;
    }

    mix(colour, share) {
      this.mixed = this.mixed.map((channel, index) => channel + share * colour[index]);
    }
  }

  /** An opaque colour of the style sheet to its three channels. */
  function channels(colour) {
    const context = document.createElement("canvas").getContext("2d");
    context.fillStyle = colour; // reads back as "#rrggbb", however it was written
    return [1, 3, 5].map((start) => parseInt(context.fillStyle.slice(start, start + 2), 16));
  }

  /** Three channels to the opaque pixel of an image's 32-bit view. */
  function packed([red, green, blue]) {
    return ((255 << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red)) >>> 0;
  }
})((window.kvsim ??= {}));
