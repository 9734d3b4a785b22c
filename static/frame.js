/* The frame: tells the page around this one how high it is, so that a frame can be made to fit. */
(function (kvsim) {
  "use strict";

  kvsim.isFramed = window.parent !== window;

  /** Announce the height, in CSS pixels, now and whenever it changes. It goes to whoever holds the
      frame: where that is cannot be known, and a height is no secret. */
  kvsim.announceHeight = function () {
    if (!kvsim.isFramed) return;
    let announced = 0;
    const announce = () => {
      // Of what there is, not of the frame: else a frame that has grown could never shrink.
      const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
      if (height === 0 || height === announced) return;
      announced = height;
      window.parent.postMessage({ kvsim: "height", height }, "*");
      // Canvas listens to this one; older versions read it only as text.
      const resize = JSON.stringify({ subject: "lti.frameResize", height });
      window.parent.postMessage(resize, "*");
    };
    new ResizeObserver(announce).observe(document.documentElement);
  };
})((window.kvsim ??= {}));
