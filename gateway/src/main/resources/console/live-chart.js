// Lines over time, as SVG. The legend shows the numbers at the pointer.
import { el } from "./base.js";

const HEIGHT = 120;
const LEFT = 46;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 18;

export function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** Returns the smallest number of the form 1, 2, 2.5 or 5 times a power of ten that is at least `value`. */
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

/**
 * Draws a chart, or replaces its drawing.
 *
 * @param chart has title, format, least (of the axis' end), most, series of [field, label, class]
 * @param samples have `uptime` and the fields; undefined where there is no value
 * @param most milliseconds to show; the chart shows fewer while there are fewer samples
 */
export function drawChart(panel, chart, samples, most) {
  if (!panel.firstChild) {
    panel.append(
      el("div", { class: "chart-head" }, el("h2", {}, chart.title), el("ul", { class: "legend" })),
      el("div", { class: "chart" }));
    panel.addEventListener("pointermove", (event) => { chart.pointer = event.clientX; drawChart(panel, chart, chart.samples, most); });
    panel.addEventListener("pointerleave", () => { chart.pointer = undefined; drawChart(panel, chart, chart.samples, most); });
  }
  chart.samples = samples;
  const area = panel.lastChild;
  const width = Math.max(160, area.clientWidth);
  const now = samples.at(-1)?.uptime ?? 0;
  const begins = [60, 120, 180, 240].map((s) => s * 1000).find((s) => now - (samples[0]?.uptime ?? now) <= s) ?? most;
  const span = Math.min(most, begins);
  const values = samples.flatMap((sample) => chart.series.map(([field]) => sample[field] ?? 0));
  const top = chart.most ?? ceiling(Math.max(chart.least, ...values));
  const x = (time) => width - RIGHT - ((now - time) / span) * (width - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - (Math.min(value, top) / top) * (HEIGHT - TOP - BOTTOM);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT, role: "img" });
  for (const part of [0, 0.5, 1]) {
    picture.append(
      svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(part * top), y2: y(part * top) }),
      svg("text", { x: LEFT - 6, y: y(part * top) + 4, "text-anchor": "end" }, chart.format(part * top)));
  }
  picture.append(
    svg("text", { x: LEFT, y: HEIGHT - 3 }, `${span / 60000} min ago`),
    svg("text", { x: width - RIGHT, y: HEIGHT - 3, "text-anchor": "end" }, "now"));
  for (const [index, [field, , key]] of chart.series.entries()) {
    const points = samples.filter((s) => s[field] !== undefined).map((s) => `${x(s.uptime).toFixed(1)},${y(s[field]).toFixed(1)}`);
    if (points.length < 2) continue;
    if (index === 0) {
      const ends = [points.at(-1), points[0]].map((p) => `${p.split(",")[0]},${y(0)}`);
      picture.append(svg("path", { class: `area ${key}`, d: `M${points.join("L")}L${ends.join("L")}Z` }));
    }
    picture.append(svg("path", { class: key, d: `M${points.join("L")}` }));
  }
  let shown = samples.at(-1);
  if (chart.pointer !== undefined && samples.length > 0) {
    const at = chart.pointer - area.getBoundingClientRect().left;
    shown = samples.reduce((best, s) => (Math.abs(x(s.uptime) - at) < Math.abs(x(best.uptime) - at) ? s : best));
    picture.append(svg("line", { class: "cross", x1: x(shown.uptime), x2: x(shown.uptime), y1: TOP, y2: HEIGHT - BOTTOM }));
  }
  const texts = chart.series.map(([field, label, key]) => [key, shown?.[field] === undefined ? "–" : chart.format(shown[field]), label]);
  picture.setAttribute("aria-label", `${chart.title}: ${texts.map(([, value, label]) => `${label} ${value}`).join(", ")}`);
  panel.querySelector(".legend").replaceChildren(...texts.map(([key, value, label]) =>
    el("li", {}, el("span", { class: `key ${key}` }), el("b", {}, value), label)));
  area.replaceChildren(picture);
}
