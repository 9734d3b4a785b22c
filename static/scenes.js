/* Scenes: what a cache holds at one moment, told run by run in order of address. */
(function (kvsim) {
  "use strict";

  const tone = (request) => (request % 2 ? "other" : "tokens");

  /** The cache in pass q of a replay, each unit where it lies; `chosen` is a request to point out. */
  kvsim.replayScene = function (replay, { q, running }, chosen) {
    const { way, unit, units, capacity } = replay;
    const owner = new Int32Array(units).fill(-1); // stay that holds each unit
    const order = new Int32Array(units); // which of the stay's units it is
    for (const stay of running) {
      const place = replay.places[stay];
      const held = replay.held(stay, q);
      for (let index = 0; index < held; index++) {
        owner[place[index]] = stay;
        order[place[index]] = index;
      }
    }
    const free = replay.isScattered(q) ? "hole" : "free";

    function paint(strip) {
      const edged = way === "blocks" && strip.tellsApart(unit);
      for (let first = 0; first < units; ) {
        const stay = owner[first];
        let next = first + 1;
        if (stay < 0) {
          while (next < units && owner[next] < 0) next++;
          strip.run(free, (next - first) * unit);
        } else {
          const request = replay.request[stay];
          const use = request === chosen ? "chosen" : tone(request);
          const tokens = replay.tokens(stay, q);
          if (way === "blocks") {
            strip.block(use, Math.min(unit, tokens - order[first] * unit), unit, edged);
          } else {
            next = first + replay.held(stay, q);
            const future = Math.min(replay.reservedBy(stay, tokens), replay.lengthOf(stay)) - tokens;
            strip.run(use, tokens);
            strip.run("future", future);
            strip.run("empty", (next - first) * unit - tokens - future, true);
          }
        }
        first = next;
      }
      strip.run("free", Infinity);
    }

    /** The stay that holds a token position; -1 if it is free. */
    const ownerOf = (address) => owner[Math.floor(address / unit)] ?? -1;
    return { capacity, paint, ownerOf };
  };

  /** The end of the minute where there is no film: all requests one behind the other. */
  kvsim.stillScene = function (side, kind, unit, capacity) {
    function paint(strip) {
      const edged = kind === "paged" && strip.tellsApart(unit);
      side.tokens.forEach((held, request) => {
        for (let left = held; left > 0; left -= unit) {
          strip.block(tone(request), Math.min(left, unit), unit, edged);
        }
      });
      strip.run("free", Infinity);
    }
    return { capacity, paint, ownerOf: () => -1 };
  };

  /** Nothing: where neither a film nor the requests' reservations are known. */
  kvsim.blankScene = (capacity) => ({
    capacity,
    paint: (strip) => strip.run("blank", Infinity),
    ownerOf: () => -1,
  });
})((window.kvsim ??= {}));
