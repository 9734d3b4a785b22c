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
      const suffixes = { tokens: "", other: "-tint", future: "-soft", empty: "-empty", hatch: "-tint" };
      this.colours = {
        free: channels(kvsim.colour("free")),
        hole: channels(kvsim.colour("ink-soft")),
        blank: channels(kvsim.colour("paper")),
        chosen: channels(kvsim.colour("ink")),
      };
      for (const [use, suffix] of Object.entries(suffixes)) {
        this.colours[use] = channels(kvsim.colour(this.kind + suffix));
      }
      this.draw();
    }

    /** Show a scene: {capacity, unit, paint(strip)}, which runs through the cache by address. */
    show(scene) {
      this.scene = scene;
      this.draw();
    }

    draw() {
      const width = this.canvas.clientWidth;
      const height = this.canvas.clientHeight;
      if (!this.scene || !width || !height) return;
      const scale = window.devicePixelRatio || 1;
      const columns = Math.round(width * scale);
      const line = Math.round(LINE_PX * scale);
      const pitch = line + Math.round(GAP_PX * scale);
      const lines = Math.floor((Math.round(height * scale) + pitch - line) / pitch);
      this.layout = { lines, columns, line, pitch, scale };
      this.canvas.width = columns;
      this.canvas.height = lines * pitch;
      const strip = new Strip(columns * line * lines, this.scene.capacity, this.colours);
      this.scene.paint(strip);
      this.print(strip);
    }

    /** Break the strip into lines. */
    print(strip) {
      const { lines, columns, line, pitch, scale } = this.layout;
      const image = new ImageData(columns, lines * pitch);
      const pixels = new Uint32Array(image.data.buffer);
      const period = Math.round(HATCH_PX * scale);
      const stroke = Math.max(1, Math.round(scale));
      const hatch = packed(...this.colours.hatch);
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

    /** The token position under a point of the canvas (in its own pixels); -1 beside all lines. */
    addressAt(x, y) {
      const { lines, columns, line, pitch, scale } = this.layout;
      const [column, row] = [Math.floor(x * scale), Math.floor((y * scale) / pitch)];
      const down = Math.floor(y * scale) - row * pitch;
      if (column < 0 || column >= columns || row < 0 || row >= lines || down >= line) return -1;
      const pixel = (row * columns + column) * line + down;
      return Math.floor((pixel * this.scene.capacity) / (columns * line * lines));
    }
  };

  /** All pixels in address order, filled run by run; a pixel mixes the runs that meet in it. */
  class Strip {
    constructor(length, tokens, colours) {
      this.pixels = new Uint32Array(length);
      this.hatched = new Uint8Array(length);
      this.tokensPerPixel = tokens / length;
      this.colours = colours;
      this.position = 0; // in pixels
      this.red = this.green = this.blue = 0; // of the pixel under way
    }

    /** Whether blocks of so many tokens are large enough to be told apart. */
    tellsApart(tokens) {
      return tokens / this.tokensPerPixel >= LEAST_BLOCK_PX;
    }

    /** Continue with some tokens of one use, a key of the colours. */
    run(use, tokens, hatched = false) {
      if (tokens <= 0) return;
      const [red, green, blue] = this.colours[use];
      const end = Math.min(this.position + tokens / this.tokensPerPixel, this.pixels.length);
      let pixel = Math.floor(this.position);
      let share = Math.min(end, pixel + 1) - this.position;
      this.red += share * red;
      this.green += share * green;
      this.blue += share * blue;
      this.position = end;
      if (end < pixel + 1) return;
      this.pixels[pixel++] = packed(this.red, this.green, this.blue);
      const last = Math.floor(end);
      this.pixels.fill(packed(red, green, blue), pixel, last);
      if (hatched) this.hatched.fill(1, pixel, last);
      share = end - last;
      this.red = share * red;
      this.green = share * green;
      this.blue = share * blue;
    }

    /** One block: with a light edge before it where blocks are told apart. */
    block(use, filled, size, edged) {
      const edge = edged ? Math.min(2 * this.tokensPerPixel, filled) : 0;
      this.run("empty", edge);
      this.run(use, filled - edge);
      this.run("empty", size - filled, true);
    }
  }

  /** An opaque colour of the style sheet to its three channels. */
  function channels(colour) {
    const context = document.createElement("canvas").getContext("2d");
    context.fillStyle = colour; // reads back as "#rrggbb", however it was written
    return [1, 3, 5].map((start) => parseInt(context.fillStyle.slice(start, start + 2), 16));
  }

  /** Three channels to the opaque pixel of an image's 32-bit view. */
  function packed(red, green, blue) {
    return ((255 << 24) | (Math.round(blue) << 16) | (Math.round(green) << 8) | Math.round(red)) >>> 0;
  }
})((window.kvsim ??= {}));
