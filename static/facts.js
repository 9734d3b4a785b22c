/* Facts and sentences put into the page, as text alone. */
(function (kvsim) {
  "use strict";

  /** An element with a class and what is in it: texts or elements. */
  kvsim.made = function (tag, name, ...children) {
    const element = document.createElement(tag);
    if (name) element.className = name;
    element.append(...children);
    return element;
  };

  /** A list of names and values; a value may have a line of small print. */
  kvsim.factList = (facts) =>
    kvsim.made(
      "dl",
      "own-facts",
      ...facts.map(([name, value, small]) =>
        kvsim.made(
          "div",
          "",
          kvsim.made("dt", "", name),
          kvsim.made("dd", "", value, ...(small ? [" ", kvsim.made("span", "own-line", small)] : [])),
        ),
      ),
    );

  kvsim.sentenceList = (sentences) =>
    kvsim.made("ul", "own-said", ...sentences.map((each) => kvsim.made("li", "", each)));

  /** A long list of sentences, which scrolls by itself, by keyboard too. */
  kvsim.scrollingList = function (sentences, name) {
    const list = kvsim.made("ul", "", ...sentences.map((each) => kvsim.made("li", "", each)));
    const region = kvsim.made("div", "own-rows", list);
    region.tabIndex = 0;
    region.setAttribute("role", "region");
    region.setAttribute("aria-label", name);
    return region;
  };
})((window.kvsim ??= {}));
