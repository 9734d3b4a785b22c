/* The atlas: looks up one position of the controls; app/reading.py does the same. */
(function (kvsim) {
  "use strict";

  /** The atlases of the workloads that the page offers; each is fetched when it is first wanted. */
  kvsim.Atlases = class {
    constructor(addresses) {
      this.addresses = addresses;
      this.opened = {};
    }

    /** The atlas that is shown: that of a reader's own server while there is one (see whose-server.js). */
    get current() {
      return this.own ?? this.plates;
    }

    has(workload) {
      return workload in this.addresses;
    }

    /** Make a workload's atlas the current one; rejects if it cannot be had. */
    async open(workload) {
      if (!this.opened[workload]) {
        const bytes = await kvsim.bytesAt(this.addresses[workload]);
        this.opened[workload] = await kvsim.openAtlas(bytes);
      }
      this.plates = this.opened[workload];
    }
  };

  /** Open an atlas's bytes; rejects if they are damaged. */
  kvsim.openAtlas = async function (bytes) {
    const { header, arrays } = await kvsim.openContainer(bytes);
    return new Atlas(header, arrays);
  };

  class Atlas {
    constructor(header, arrays) {
      this.fingerprint = header.fingerprint;
      this.axes = header.axes;
      this.constants = header.constants;
      this.arrays = arrays;
    }

    /** The end of an axis on which every position's requests fit: a round number. Of a server that
        is still simulated, positions that are not there yet have NaN. */
    get mostRequests() {
      const { contiguous_requests, paged_requests } = this.arrays;
      const all = [...contiguous_requests.values, ...paged_requests.values];
      const most = Math.max(1, ...all.filter((each) => !Number.isNaN(each)));
      const round = most > 100 ? 100 : 10;
      return Math.ceil(most / round) * round;
    }

    /** What the page shows at some settings, the value of each control by its name. */
    reading(settings) {
      const index = (name) => this.axes[name].indexOf(settings[name]);
      const length = index("max_length");
      return {
        settings,
        rates: this.axes.rate,
        own: Boolean(this.title), // of a reader's own server
        workload: this.constants.workload,
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
      const ttft = curve[rate];
      const computed = !Number.isNaN(ttft[1]);
      const known = (name) => (computed ? at(name, rate) : NaN);
      return {
        computed,
        requests: at("requests"),
        share: at("share"),
        sustained: at("sustained"),
        queueGrows: settings.rate > at("sustained"),
        curve, // for each rate: 10th, 50th and 90th percentile in seconds
        ttft,
        // At the end of the first minute:
        waiting: known("waiting"),
        running: known("running"),
        cached: known("cached"), // tokens
        held: known("held"), // tokens
        // What twice the memory, arithmetic or bandwidth would do: per cent of the median saved at
        // each rate, and the rate sustained.
        saved: this.axes.rate.map((_, index) => [0, 1, 2].map((each) => at("saved", index, each))),
        doubled: [0, 1, 2].map((each) => at("doubled", each)),
        tokens: computed ? this.snapshot(at("snapshot", rate), settings) : [], // of each that runs
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
