/* The atlas: looks up one position of the controls; app/reading.py does the same. */
(function (kvsim) {
  "use strict";

  /** The atlases of the workloads that the page offers; each is fetched when it is first wanted. */
  kvsim.Atlases = class {
    constructor(addresses) {
      this.addresses = addresses;
      this.opened = {};
    }

    has(workload) {
      return workload in this.addresses;
    }

    /** Make a workload's atlas the current one; rejects if it cannot be had. */
    async open(workload) {
      if (!this.opened[workload]) {
        const bytes = await kvsim.bytesAt(this.addresses[workload]);
        const { header, arrays } = await kvsim.openContainer(bytes);
        this.opened[workload] = new Atlas(header, arrays);
      }
      this.current = this.opened[workload];
    }
  };

  class Atlas {
    constructor(header, arrays) {
      this.fingerprint = header.fingerprint;
      this.axes = header.axes;
      this.constants = header.constants;
      this.arrays = arrays;
    }

    /** The end of an axis on which every position's requests fit: a round number. */
    get mostRequests() {
      const { contiguous_requests, paged_requests } = this.arrays;
      const all = [...contiguous_requests.values, ...paged_requests.values];
      return Math.ceil(Math.max(...all) / 100) * 100;
    }

    /** What the page shows at some settings, the value of each control by its name. */
    reading(settings) {
      const index = (name) => this.axes[name].indexOf(settings[name]);
      const length = index("max_length");
      return {
        settings,
        fingerprint: this.fingerprint, // of the code that computed it
        capacity: this.constants.capacity_tokens,
        rateIndex: index("rate"),
        contiguous: this.side("contiguous", [index("reservation"), length], settings),
        paged: this.side("paged", [index("block_overhead"), index("block_size"), length], settings),
      };
    }

    side(kind, position, settings) {
      const rate = this.axes.rate.indexOf(settings.rate);
      const at = (name, ...more) => this.at(`${kind}_${name}`, ...position, ...more);
      const curve = this.axes.rate.map((_, index) =>
        [0, 1, 2].map((share) => at("ttft", index, share)),
      );
      return {
        requests: at("requests"),
        share: at("share"),
        sustained: at("sustained"),
        queueGrows: settings.rate > at("sustained"),
        curve, // for each rate: 10th, 50th and 90th percentile in seconds
        ttft: curve[rate],
        // At the end of the first minute:
        waiting: at("waiting", rate),
        running: at("running", rate),
        cached: at("cached", rate), // tokens
        held: at("held", rate), // tokens
        // What twice the memory, arithmetic or bandwidth would do: per cent of the median saved at
        // each rate, and the rate sustained.
        saved: this.axes.rate.map((_, index) => [0, 1, 2].map((each) => at("saved", index, each))),
        doubled: [0, 1, 2].map((each) => at("doubled", each)),
        tokens: this.snapshot(at("snapshot", rate), settings), // of each running request
      };
    }

    at(name, ...index) {
      return this.arrays[name].at(...index);
    }

    /** Cached tokens of the requests of one snapshot. */
    snapshot(number, settings) {
      const length = this.axes.max_length.indexOf(settings.max_length);
      const ends = this.arrays.snapshot_ends.values;
      const rows = [number ? ends[number - 1] : 0, ends[number]];
      const requests = kvsim.summed(this.arrays.snapshot_request_steps.values, ...rows);
      const decoded = kvsim.summed(this.arrays.snapshot_decoded_steps.values, ...rows);
      return Array.from(requests, (request, row) => this.at("prompt_tokens", length, request) + decoded[row]);
    }
  }
})((window.kvsim ??= {}));
