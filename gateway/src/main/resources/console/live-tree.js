// The radix tree as a picture: tokens from left to right, and a bar as high as all that goes on after it.
import { el } from "./base.js";
import { svg } from "./live-chart.js";

const AXIS = 20;
const MOST_HEIGHT = 430;
const SHARING = [[1, "s1", "one"], [2, "s2", "2 to 3"], [4, "s3", "4 to 7"], [8, "s4", "8 to 15"], [16, "s5", "16 or more continuations"]];
const TIERS = [["device", "k1"], ["host", "k2"], ["disk", "k3"], ["remote", "k4"]];

export class RadixTree {
  #parts;
  #engines = [];
  #by = "sharing";
  #picture = null;
  /** Bars by the ids of their nodes, in the order of the arrow keys. */
  #bars = new Map();
  /** When a node was first seen: the order of siblings, so that they do not jump. */
  #order = new Map();
  #focused = null;

  /** @param parts the elements to show in: area, info, legend, rows, table; and ago, which formats times */
  constructor(parts) {
    this.#parts = parts;
    parts.table.addEventListener("toggle", () => this.#showRows());
    parts.area.addEventListener("keydown", (event) => this.#move(event));
    parts.area.addEventListener("pointerleave", () => this.#point(null));
    this.#showLegend();
  }

  show(engines) {
    this.#engines = engines;
    this.draw();
    this.#showRows();
  }

  colourBy(by) {
    this.#by = by;
    this.#showLegend();
    this.draw();
  }

  #showLegend() {
    const items = this.#by === "sharing"
      ? SHARING.map(([, key, text]) => [key, text])
      : TIERS.map(([name, key]) => [key, name]);
    const first = this.#by === "sharing" ? [el("li", {}, "Shared by")] : [el("li", {}, "Fastest tier")];
    this.#parts.legend.replaceChildren(...first, ...items.map(([key, text]) => el("li", {}, el("span", { class: `key ${key}` }), text)));
  }

  #colour(node) {
    if (this.#by === "tier") return TIERS.find(([name]) => node.tiers.includes(name))?.[1] ?? "k5";
    return SHARING.findLast(([least]) => node.ends >= least)[1];
  }

  /** Gives nodes their children and rows; returns the number of rows. */
  #layOut(engine, firstRow) {
    const nodes = engine.nodes.map((node) => ({ ...node, engine, children: [], up: null }));
    const roots = [];
    for (const node of nodes) {
      if (!this.#order.has(node.id)) this.#order.set(node.id, this.#order.size);
      node.up = node.parent < 0 ? null : nodes[node.parent];
      (node.up ? node.up.children : roots).push(node);
    }
    const bySeen = (a, b) => this.#order.get(a.id) - this.#order.get(b.id);
    let row = firstRow;
    const walked = [];
    const place = (list, depth) => {
      for (const node of list.sort(bySeen)) {
        node.row = row;
        node.depth = depth;
        walked.push(node);
        place(node.children, depth + 1);
        if (node.hidden > 0) node.moreRow = row++;
        else if (node.children.length === 0) row++;
        node.rows = row - node.row;
      }
    };
    place(roots, 1);
    return { walked, row };
  }

  draw() {
    const { area } = this.#parts;
    if (this.#engines.length === 0) return;
    let row = 0;
    const walked = [];
    const heads = [];
    for (const engine of this.#engines) {
      if (this.#engines.length > 1) heads.push([row++, engine.name]);
      const laid = this.#layOut(engine, row);
      walked.push(...laid.walked);
      row = laid.row;
    }
    if (this.#order.size > 20000) this.#order.clear();
    const width = Math.max(260, area.clientWidth);
    const height = Math.min(30, Math.max(9, MOST_HEIGHT / Math.max(1, row)));
    const end = Math.max(64, ...walked.map((node) => node.start + node.tokens));
    const x = (token) => (token / end) * (width - 2) + 1;
    const y = (at) => AXIS + at * height;
    if (!this.#picture) {
      this.#picture = svg("svg", {}, svg("g", { "aria-hidden": "true" }), svg("g", { role: "tree", "aria-label": "Radix tree" }));
      area.replaceChildren(this.#picture);
    }
    const picture = this.#picture;
    picture.setAttribute("viewBox", `0 0 ${width} ${AXIS + row * height + 1}`);
    picture.setAttribute("height", AXIS + row * height + 1);
    const [back, front] = picture.children;
    back.replaceChildren(...this.#axis(end, x, y(row)), ...heads.map(([at, name]) => svg("text", { x: 2, y: y(at) + height * 0.7 }, name)));
    this.#drawBars(front, walked, { x, y, height, width });
  }

  #axis(end, x, bottom) {
    const rough = end / 6;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(16, [1, 2, 5, 10].map((s) => s * power).find((s) => s >= rough));
    const lines = [];
    for (let token = 0; token <= end; token += step) {
      const last = x(token) > x(end) - 30;
      lines.push(
        svg("line", { class: "grid", x1: x(token), x2: x(token), y1: AXIS - 4, y2: bottom }),
        svg("text", { x: x(token) + (token === 0 ? -1 : 0), y: 11, "text-anchor": token === 0 ? "start" : last ? "end" : "middle" },
          token === 0 ? "token 0" : token.toLocaleString("en")));
    }
    return lines;
  }

  #drawBars(front, walked, { x, y, height, width }) {
    const bars = new Map();
    for (const node of walked) {
      const bar = this.#bars.get(node.id) ?? this.#newBar(node.id);
      bar.node = node;
      const [rect, text] = bar.group.children;
      const box = { x: x(node.start), y: y(node.row), width: Math.max(1.5, x(node.start + node.tokens) - x(node.start)), height: node.rows * height };
      for (const [name, value] of Object.entries(box)) rect.setAttribute(name, value.toFixed(1));
      rect.setAttribute("rx", Math.min(3, height / 4));
      rect.setAttribute("class", this.#colour(node));
      const label = this.#label(node, box, height);
      text.textContent = label;
      text.setAttribute("x", (box.x + 6).toFixed(1));
      text.setAttribute("y", (box.y + Math.min(box.height / 2, box.height - height / 2) + 4).toFixed(1));
      bar.group.setAttribute("aria-label", describe(node, this.#parts.ago));
      bar.group.setAttribute("aria-level", node.depth);
      this.#drawMore(bar, node, { x, y, height, width });
      bars.set(node.id, bar);
    }
    for (const [id, bar] of this.#bars) {
      if (!bars.has(id)) {
        bar.group.remove();
        bar.more?.remove();
      }
    }
    const had = this.#focused;
    this.#bars = bars;
    if (!bars.has(had)) this.#focused = walked[0]?.id ?? null;
    let at = front.firstChild;
    for (const bar of bars.values()) {
      if (bar.group === at) at = at.nextSibling;
      else front.insertBefore(bar.group, at);
      bar.group.setAttribute("tabindex", bar.node.id === this.#focused ? "0" : "-1");
    }
  }

  #label(node, box, height) {
    if (box.height < 13) return "";
    const room = (box.width - 10) / 6.2;
    const long = node.ends > 1 ? `${node.tokens} tokens, shared by ${node.ends}` : `${node.tokens} tokens`;
    if (long.length < room) return long;
    return String(node.tokens).length < room ? String(node.tokens) : "";
  }

  /** Says how many nodes below are not drawn. */
  #drawMore(bar, node, { x, y, height, width }) {
    bar.more?.remove();
    bar.more = null;
    if (node.hidden === 0) return;
    const from = x(node.start + node.tokens);
    const right = from > width - 130;
    const text = `… ${node.hidden.toLocaleString("en")} more`;
    bar.more = svg("g", { class: "more", "aria-hidden": "true" },
      svg("text", { x: right ? from - 6 : from + 6, y: y(node.moreRow) + Math.max(9, height / 2 + 4), "text-anchor": right ? "end" : "start" }, text));
    this.#picture.append(bar.more);
  }

  #newBar(id) {
    const group = svg("g", { class: "bar", role: "treeitem", "aria-selected": "false" }, svg("rect", {}), svg("text", { "aria-hidden": "true" }));
    const bar = { group, node: null, more: null };
    group.addEventListener("pointerenter", () => this.#point(this.#bars.get(id)));
    group.addEventListener("focus", () => { this.#focused = id; this.#point(this.#bars.get(id)); });
    group.addEventListener("blur", () => this.#point(null));
    return bar;
  }

  /** Shows a node and the way to it, or none. */
  #point(bar) {
    const path = new Set();
    for (let node = bar?.node; node; node = node.up) path.add(node.id);
    for (const each of this.#bars.values()) {
      each.group.classList.toggle("path", path.has(each.node.id));
      each.group.setAttribute("aria-selected", String(each === bar));
    }
    this.#picture?.classList.toggle("picking", Boolean(bar));
    if (bar) this.#parts.info.textContent = describe(bar.node, this.#parts.ago);
  }

  #move(event) {
    const bars = [...this.#bars.values()];
    const at = bars.findIndex((bar) => bar.node.id === this.#focused);
    if (at < 0) return;
    const node = bars[at].node;
    const id = {
      ArrowDown: () => bars[at + 1]?.node.id,
      ArrowUp: () => bars[at - 1]?.node.id,
      ArrowLeft: () => node.up?.id,
      ArrowRight: () => node.children[0]?.id,
      Home: () => bars[0].node.id,
      End: () => bars.at(-1).node.id,
    }[event.key]?.();
    if (id === undefined) return;
    event.preventDefault();
    bars[at].group.setAttribute("tabindex", "-1");
    const next = this.#bars.get(id).group;
    next.setAttribute("tabindex", "0");
    next.focus();
  }

  #showRows() {
    if (!this.#parts.table.open) return;
    const rows = [...this.#bars.values()].map(({ node }) => el("tr", {},
      el("th", { scope: "row" }, `${"· ".repeat(node.depth - 1)}${node.children.length > 0 || node.hidden > 0 ? "prefix" : "end"}`),
      el("td", {}, node.start.toLocaleString("en")),
      el("td", {}, node.tokens.toLocaleString("en")),
      el("td", {}, node.ends.toLocaleString("en")),
      el("td", {}, node.tiers.join(", ")),
      el("td", {}, space(node)),
      el("td", {}, this.#parts.ago(node.stored_at))));
    this.#parts.rows.replaceChildren(...rows);
  }
}

function space(node) {
  return node.space === 0 ? "public" : `tenant ${node.space}`;
}

/** A node in words. */
function describe(node, ago) {
  const parts = [
    `${node.tokens.toLocaleString("en")} tokens from token ${node.start.toLocaleString("en")} on`,
    node.ends > 1 ? `shared by ${node.ends.toLocaleString("en")} continuations with ${node.below.toLocaleString("en")} tokens` : "not shared",
    node.tiers.length > 1 ? `in the tiers ${node.tiers.join(", ")}` : `in the tier ${node.tiers[0]}`,
    `latest page stored ${ago(node.stored_at)}`,
  ];
  if (node.space !== 0) parts.push(`namespace of tenant ${node.space}`);
  if (node.hidden > 0) parts.push(`${node.hidden.toLocaleString("en")} smaller nodes below are not drawn`);
  return `${parts.join("; ")}.`;
}
