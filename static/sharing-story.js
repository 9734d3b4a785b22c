/* Stories of shared blocks: what each step shows, from frames that say what is new in it; see
   app/sections/sharing_figure.py. */
(function (kvsim) {
  "use strict";

  /** The steps of one story, each whole: blocks, tables by name, regions, and what just happened. */
  kvsim.sharingSteps = function (story, samples, system, keep) {
    const frames = story.stories[keep][system][story.samples.indexOf(samples)];
    const free = { count: 0, filled: 0, kept: false };
    let step = {
      blocks: Array(story.blocks).fill(free),
      tables: {},
      regions: Array(story.regions).fill({ name: null, tokens: 0 }),
    };
    return frames.map((frame) => {
      step = following(step, frame);
      return step;
    });
  };

  function following(before, frame) {
    const blocks = [...before.blocks];
    for (const [number, count, filled, kept] of frame.blocks) {
      blocks[number] = { count, filled, kept: Boolean(kept) };
    }
    const tables = { ...before.tables, ...frame.tables };
    for (const name of Object.keys(tables)) if (!tables[name]) delete tables[name];
    const regions = [...before.regions];
    for (const [number, name, tokens] of frame.regions) regions[number] = { name, tokens };
    return {
      blocks,
      tables,
      regions,
      step: frame.step,
      values: frame.values,
      used: frame.used,
      unshared: frame.unshared,
      waiting: frame.waiting,
      changed: Object.keys(frame.tables).filter((name) => tables[name]),
      taken: new Set(frame.events.filter(([kind]) => kind === "take").map(([, block]) => block)),
      copies: frame.events
        .filter(([kind]) => kind === "copy")
        .map(([, block, source]) => ({ block, source })),
    };
  }

  /** The names of the tables that hold each block of a step. */
  kvsim.sharingHolders = function ({ blocks, tables }) {
    const holders = blocks.map(() => []);
    for (const [name, held] of Object.entries(tables)) {
      for (const block of held) holders[block].push(name);
    }
    return holders;
  };

  /** The step that shows best what sharing is: the first copy, or else the first that has tables. */
  kvsim.tellingStep = function (steps) {
    const copy = steps.findIndex(({ copies }) => copies.length > 0);
    return copy >= 0 ? copy : steps.findIndex(({ changed }) => changed.length > 0);
  };
})((window.kvsim ??= {}));
