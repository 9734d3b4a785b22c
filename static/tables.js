/* Tables that a script fills: the right chart's data, and rows of cells for others. The left chart's
   holds live words and needs none. */
(function (kvsim) {
  "use strict";

  /** Fill a table's body: the first of each row's cells is its heading. */
  kvsim.fillRows = function (id, rows) {
    document.querySelector(`#${id} tbody`).replaceChildren(
      ...rows.map(({ current, cells: [heading, ...cells] }) => {
        const row = document.createElement("tr");
        if (current) row.setAttribute("aria-current", "true");
        const first = document.createElement("th");
        first.scope = "row";
        first.textContent = heading;
        row.append(first);
        for (const text of cells) row.insertCell().textContent = text;
        return row;
      }),
    );
  };

  /** Every rate of the right chart, in numbers. */
  kvsim.fillTtftTable = function (reading, words, rates) {
    const seconds = ([low, median, high]) => [
      words.seconds(median),
      words.fill("band", { low: words.significant(low), high: words.significant(high) }),
    ];
    kvsim.fillRows(
      "ttft-table",
      rates.map((rate, index) => ({
        current: rate === reading.settings.rate,
        cells: [
          words.rate(rate),
          ...seconds(reading.contiguous.curve[index]),
          ...seconds(reading.paged.curve[index]),
          words.limitNames(reading.contiguous.saved[index]),
          words.limitNames(reading.paged.saved[index]),
        ],
      })),
    );
  };
})((window.kvsim ??= {}));
