/* A frame that becomes as high as the plate in it says that it is. */

export default {
  render({ model, el }) {
    const frame = document.createElement("iframe");
    frame.src = model.get("src");
    frame.title = model.get("title");
    frame.style = "width: 100%; height: 900px; border: 0";

    const fit = ({ data, source }) => {
      if (source !== frame.contentWindow) return;
      if (data?.kvsim !== "height" || !(data.height > 0)) return;
      frame.style.height = `${Math.ceil(data.height)}px`;
    };
    addEventListener("message", fit);
    el.append(frame);
    return () => removeEventListener("message", fit);
  },
};
