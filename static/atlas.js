/* The atlas: looks up one position of the controls; app/reading.py does the same. */
(function (kvsim) {
  "use strict";

  /** Open the bytes of an atlas; rejects if they are damaged. */
  kvsim.openAtlas = async function (bytes) {
    const { header, arrays } = await kvsim.openContainer(bytes);
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
      return this.arrays[name].at(...index);
    }

    /** Cached tokens of the requests of one snapshot. */
    snapshot(number, length) {
      const ends = this.arrays.snapshot_ends.values;
      const rows = [number ? ends[number - 1] : 0, ends[number]];
      const requests = kvsim.summed(this.arrays.snapshot_request_steps.values, ...rows);
      const decoded = kvsim.summed(this.arrays.snapshot_decoded_steps.values, ...rows);
      return Array.from(requests, (request, row) => this.at("prompt_tokens", length, request) + decoded[row]);
    }
  }
})((window.kvsim ??= {}));
