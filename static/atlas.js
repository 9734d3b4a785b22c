/* The atlas: reads the file that app/atlas.py writes, and looks up one position of the controls. */
(function (kvsim) {
  "use strict";

  const ARRAYS = {
    float32: Float32Array,
    float64: Float64Array,
    int16: Int16Array,
    uint16: Uint16Array,
    uint32: Uint32Array,
  };
  const FORMAT = 1;

  async function inflate(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  /** Open the compressed bytes of an atlas; rejects if they are damaged. */
  kvsim.openAtlas = async function (bytes) {
    const file = await inflate(bytes);
    const start = file.indexOf(10) + 1;
    const header = JSON.parse(new TextDecoder().decode(file.subarray(0, start)));
    if (header.format !== FORMAT) throw new Error(`format ${header.format}`);
    const arrays = {};
    for (const [name, { dtype, shape, offset }] of Object.entries(header.arrays)) {
      const length = shape.reduce((product, size) => product * size, 1);
      arrays[name] = { shape, values: new ARRAYS[dtype](file.buffer, start + offset, length) };
    }
    return new Atlas(header, arrays);
  };

  class Atlas {
    constructor(header, arrays) {
      this.axes = header.axes;
      this.constants = header.constants;
      this.arrays = arrays;
    }

    /** What the page shows at a position: the index of each control's value, by its name. */
    reading(position) {
      const value = (name) => this.axes[name][position[name]];
      const { block_size: size, max_length: length, rate, block_overhead: overhead } = position;
      const settings = Object.fromEntries(Object.keys(this.axes).map((name) => [name, value(name)]));
      const side = (kind, shape, simulated, unit) => {
        const tokens = this.snapshot(this.at(`${kind}_snapshot`, ...simulated, rate), length);
        const reserved = tokens.reduce((sum, held) => sum + Math.ceil(held / unit) * unit, 0);
        const units = Math.floor(this.constants.capacity_tokens / unit);
        const requests = this.at(`${kind}_requests`, ...shape);
        const sustained = this.at(`${kind}_sustained`, ...simulated);
        const curve = this.axes.rate.map((_, index) =>
          [0, 1, 2].map((share) => this.at(`${kind}_ttft`, ...simulated, index, share)),
        );
        return {
          requests,
          share: this.at(`${kind}_share`, ...shape),
          curve, // for each rate: 10th, 50th and 90th percentile in seconds
          ttft: curve[rate],
          sustained,
          queueGrows: settings.rate > sustained,
          waiting: this.at(`${kind}_waiting`, ...simulated, rate),
          tokens, // cached tokens of each running request, as the first minute ends
          unit, // tokens of a slot or block
          reserved, // tokens
          free: requests * (1 - reserved / unit / units), // requests
        };
      };
      return {
        settings,
        capacity: this.constants.capacity_tokens,
        contiguous: side("contiguous", [length], [length], settings.max_length),
        paged: side("paged", [size, length], [overhead, size, length], settings.block_size),
      };
    }

    at(name, ...index) {
      const { shape, values } = this.arrays[name];
      return values[index.reduce((offset, each, axis) => offset * shape[axis] + each, 0)];
    }

    /** Cached tokens of the requests of one snapshot; neighbours' differences are what is stored. */
    snapshot(number, length) {
      const ends = this.arrays.snapshot_ends.values;
      const tokens = [];
      let request = 0;
      let decoded = 0;
      for (let row = number ? ends[number - 1] : 0; row < ends[number]; row++) {
        request += this.arrays.snapshot_request_steps.values[row];
        decoded += this.arrays.snapshot_decoded_steps.values[row];
        tokens.push(this.at("prompt_tokens", length, request) + decoded);
      }
      return tokens;
    }
  }
})((window.kvsim ??= {}));
