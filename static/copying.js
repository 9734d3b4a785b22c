/* Copying: a button that puts a text into the clipboard, and says so beside itself. */
(function (kvsim) {
  "use strict";

  /** `what` names the sentences: "link" for "link_copied" and "link_shown"; `but` returns another
      one, or nothing. */
  kvsim.copyOnClick = function (id, notice, words, what, text, but = () => "") {
    document.getElementById(id).addEventListener("click", async () => {
      const copied = text();
      let sentence = `${what}_copied`;
      try {
        await navigator.clipboard.writeText(copied);
      } catch {
        sentence = `${what}_shown`;
      }
      notice.textContent = `${words.fill(sentence, {})} ${but()}`.trim();
    });
  };
})((window.kvsim ??= {}));
