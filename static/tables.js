/* The right chart's data as a table; the left one's holds live words and needs no script. */
(function (kvsim) {
  "use strict";

  function fillRows(id, rows) {
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
  }

  /** Every rate of the right chart, in numbers. */
  kvsim.fillTtftTable = function (reading, words, rates) {
    const seconds = ([low, median, high]) => [
      words.seconds(median),
      words.fill("band", { low: words.significant(low), high: words.significant(high) }),
    ];
    fillRows(
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
