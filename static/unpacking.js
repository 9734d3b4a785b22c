/* Unpacking: a file with everything inside holds its largest script compressed; this runs it. */
(function (kvsim) {
  "use strict";

  /** Run the scripts that are packed, in order. As inline scripts, and not evaluated: so a policy
      can name them by their hashes, and needs no `unsafe-eval`. */
  kvsim.unpackScripts = async function () {
    for (const packed of document.querySelectorAll("script[data-packed]")) {
      const script = document.createElement("script");
      const bytes = await kvsim.inflate(kvsim.fromBase64(packed.textContent));
      script.text = new TextDecoder().decode(bytes);
      packed.replaceWith(script);
    }
  };
})((window.kvsim ??= {}));
