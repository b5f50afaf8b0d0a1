/**
 * Where the steps of a workflow are drawn: in layers from left to right, each behind all that it
 * depends on, with few crossings. Pure.
 */
const SWEEPS = 6;

/**
 * @param {{id: string, parents: string[]}[]} nodes without cycles; parents that are not among them do not count
 * @param {{width: number, height: number, gapX: number, gapY: number}} size of a node, and between nodes
 * @returns {{width: number, height: number, at: Map<string, {x: number, y: number}>,
 *   edges: {from: string, to: string, points: [number, number][]}[]}} upper left corners, and lines from
 *   right to left edges
 */
export function layout(nodes, size) {
  const known = new Set(nodes.map(({ id }) => id));
  const parents = new Map(nodes.map((node) => [node.id, node.parents.filter((id) => known.has(id))]));
  const layerOf = layers(parents);
  const { columns, links, chains } = withBends(parents, layerOf);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) order(columns, links, sweep % 2 === 0);
  const y = rows(columns, links, size);
  const left = (layer) => layer * (size.width + size.gapX);
  const at = new Map();
  for (const [id, layer] of layerOf) at.set(id, { x: left(layer), y: y.get(id) });
  const middle = (id) => y.get(id) + size.height / 2;
  const edges = chains.map(({ from, to, bends }) => {
    const points = [[left(layerOf.get(from)) + size.width, middle(from)]];
    for (const bend of bends)
      points.push([left(bend.layer), middle(bend.id)], [left(bend.layer) + size.width, middle(bend.id)]);
    points.push([left(layerOf.get(to)), middle(to)]);
    return { from, to, points };
  });
  const bottom = Math.max(0, ...[...at.values()].map((place) => place.y + size.height));
  return { width: left(columns.length) - size.gapX, height: bottom, at, edges };
}

/** The longest way from the beginning to each node. */
function layers(parents) {
  const found = new Map();
  const visit = (id) => {
    if (!found.has(id)) {
      found.set(id, 0);
      found.set(id, Math.max(-1, ...parents.get(id).map(visit)) + 1);
    }
    return found.get(id);
  };
  for (const id of parents.keys()) visit(id);
  return found;
}

/** The columns, with a bend in each layer that an edge passes, and who is next to whom. */
function withBends(parents, layerOf) {
  const columns = [];
  const links = new Map();
  const put = (id, layer) => {
    (columns[layer] ??= []).push(id);
    links.set(id, { before: [], after: [] });
  };
  for (const [id, layer] of layerOf) put(id, layer);
  const join = (from, to) => {
    links.get(from).after.push(to);
    links.get(to).before.push(from);
  };
  const chains = [];
  for (const [to, ids] of parents)
    for (const from of ids) {
      const bends = [];
      let last = from;
      for (let layer = layerOf.get(from) + 1; layer < layerOf.get(to); layer += 1) {
        const bend = { id: `${from} → ${to} (${layer})`, layer };
        put(bend.id, layer);
        join(last, bend.id);
        bends.push(bend);
        last = bend.id;
      }
      join(last, to);
      chains.push({ from, to, bends });
    }
  return { columns, links, chains };
}

/** Puts each column in the order of the middle of its neighbours. */
function order(columns, links, forward) {
  const sequence = forward ? columns.slice(1) : columns.slice(0, -1).reverse();
  const place = new Map();
  const note = (column) => column.forEach((id, index) => place.set(id, index));
  columns.forEach(note);
  for (const column of sequence) {
    const weight = new Map(column.map((id) => [id, mean(neighbours(links, id, forward), place) ?? place.get(id)]));
    column.sort((a, b) => weight.get(a) - weight.get(b));
    note(column);
  }
}

/** How far down each node is: near its neighbours, and not on top of another. */
function rows(columns, links, { height, gapY }) {
  const step = height + gapY;
  const y = new Map();
  const tallest = Math.max(...columns.map((column) => column.length));
  for (const column of columns)
    column.forEach((id, index) => y.set(id, (index + (tallest - column.length) / 2) * step));
  for (let sweep = 0; sweep < SWEEPS; sweep += 1)
    for (const column of sweep % 2 ? [...columns].reverse() : columns)
      settle(column, (id) => mean(neighbours(links, id, sweep % 2 === 0), y) ?? y.get(id), y, step);
  const top = Math.min(...y.values());
  for (const [id, value] of y) y.set(id, value - top);
  return y;
}

/** Moves a column towards where its nodes want to be, as far as their order and distance allow. */
function settle(column, wish, y, step) {
  const wanted = column.map(wish);
  const placed = [];
  for (const [index, want] of wanted.entries()) placed.push(Math.max(want, index ? placed[index - 1] + step : -Infinity));
  const drift = placed.reduce((sum, value, index) => sum + value - wanted[index], 0) / column.length;
  column.forEach((id, index) => y.set(id, placed[index] - drift));
}

function neighbours(links, id, forward) {
  const { before, after } = links.get(id);
  return forward ? before : after;
}

function mean(ids, value) {
  if (!ids.length) return undefined;
  return ids.reduce((sum, id) => sum + value.get(id), 0) / ids.length;
}
