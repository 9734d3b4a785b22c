/* The file that arrays come in: reads what app/results/container.py writes. */
(function (kvsim) {
  "use strict";

  const ARRAYS = {
    float32: Float32Array,
    float64: Float64Array,
    int16: Int16Array,
    int32: Int32Array,
    uint16: Uint16Array,
    uint32: Uint32Array,
  };
  const FORMAT = 1;
  const INSIDE = "data:application/octet-stream;base64,";

  /** The bytes that a text in base64 stands for. */
  kvsim.fromBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

  /** Undo zlib's compression. */
  kvsim.inflate = async function (bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };

  /** Open a file's bytes: its header, and its arrays by name; rejects if they are damaged. */
  kvsim.openContainer = async function (bytes) {
    const file = await kvsim.inflate(bytes);
    const start = file.indexOf(10) + 1;
    const header = JSON.parse(new TextDecoder().decode(file.subarray(0, start)));
    if (header.format !== FORMAT) throw new Error(`format ${header.format}`);
    const arrays = {};
    for (const [name, { dtype, shape, offset }] of Object.entries(header.arrays)) {
      const length = shape.reduce((product, size) => product * size, 1);
      const values = new ARRAYS[dtype](file.buffer, start + offset, length);
      arrays[name] = new Table(shape, values);
    }
    return { header, arrays };
  };

  /** A file's bytes: from its address, or from the page itself in one that works offline. The
      latter without `fetch`, which a strict policy forbids even for what is in the page. Rejects
      what has not come after `patienceMs`, if that is given. */
  kvsim.bytesAt = async function (address, patienceMs) {
    if (address.startsWith(INSIDE)) return kvsim.fromBase64(address.slice(INSIDE.length));
    const signal = patienceMs && AbortSignal.timeout(patienceMs);
    const response = await fetch(address, { signal });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  };

  class Table {
    constructor(shape, values) {
      this.shape = shape;
      this.values = values;
    }

    at(...index) {
      const place = index.reduce((offset, each, axis) => offset * this.shape[axis] + each, 0);
      return this.values[place];
    }
  }

  /** Undo neighbours' differences: the values of rows `start` to before `end`. */
  kvsim.summed = function (steps, start, end) {
    const values = new Int32Array(end - start);
    let sum = 0;
    for (let row = start; row < end; row++) values[row - start] = sum += steps[row];
    return values;
  };
})((window.kvsim ??= {}));
