// The live page: asks the gateway for figures while the page can be seen, and shows them.
import { apiJson, askForKey, el } from "./base.js";
import { drawChart } from "./live-chart.js";
import { RadixTree } from "./live-tree.js";

const PERIOD = 1500;
const WINDOW = 5 * 60 * 1000;
const RECENT = 60 * 1000;
/** Rates are over this time, since Flink does not read all figures at the same moment. */
const SMOOTH = 3500;
const LEAST_SPAN = 900;
const OLD = 15000;
const $ = (id) => document.getElementById(id);
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

/** Samples of the last minutes, each with the time that Flink read it at, and rates since the one before. */
let samples = [];
let paused = false;
let timer;
let needsKey = false;

function setText(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

function count(value) {
  return value < 10000 ? whole.format(value) : short.format(value);
}

function millis(value) {
  if (value >= 10000) return `${whole.format(value / 1000)} s`;
  if (value >= 1000) return `${(value / 1000).toFixed(2)} s`;
  return `${value < 10 && value > 0 ? value.toFixed(1) : whole.format(value)} ms`;
}

function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit++; }
  return `${unit === 0 || value >= 100 ? whole.format(value) : value.toFixed(1)} ${units[unit]}`;
}

function percent(value) {
  return `${value >= 0.9995 || value === 0 || value === 0.5 ? whole.format(value * 100) : (value * 100).toFixed(1)}%`;
}

function ago(time) {
  const seconds = Math.max(0, Math.round((Date.now() - time) / 1000));
  if (seconds < 2) return "just now";
  if (seconds < 90) return `${seconds} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  return `${Math.round(seconds / 3600)} h ago`;
}

/** Keeps a sample and its rates. Flink's figures may be the same for a while: such a sample is skipped. */
function keep(figures) {
  const last = samples.at(-1);
  const uptime = figures.uptime_ms ?? Date.now();
  if (last && uptime === last.uptime) return last;
  // the job was restarted; or the last figures were old, as Flink reads new ones only when asked
  if (last && (uptime < last.uptime || uptime - last.uptime > Date.now() - last.at + OLD)) samples = [];
  const before = samples.findLast((each) => uptime - each.uptime >= SMOOTH) ?? samples[0];
  const m = figures.metrics;
  const sample = { uptime, at: Date.now(), m };
  const seconds = before ? (uptime - before.uptime) / 1000 : 0;
  const rate = (name) => Math.max(0, (m[name] - before.m[name]) / seconds);
  if (seconds * 1000 >= LEAST_SPAN && m.engineSteps >= before.m.engineSteps) {
    sample.decode = rate("engineTokensGenerated");
    sample.prefill = rate("engineTokensPrefilled");
    const steps = m.engineSteps - before.m.engineSteps;
    const tokens = (sample.decode + sample.prefill) * seconds;
    sample.step = steps > 0 ? tokens / steps : 0;
  }
  sample.ttft50 = m.timeToFirstTokenMillis_median;
  sample.ttft99 = m.timeToFirstTokenMillis_p99;
  sample.running = m.requestsRunning;
  sample.waiting = m.turnsPending === undefined ? undefined : m.turnsPending - Math.min(m.turnsPending, m.requestsRunning);
  samples.push(sample);
  sample.hits = hitRate(RECENT);
  samples = samples.filter((each) => uptime - each.uptime <= WINDOW);
  return sample;
}

/** The share of prompt tokens that were found in the cache, or undefined if there were none. */
function hitRate(span) {
  const last = samples.at(-1);
  const first = samples.find((each) => last.uptime - each.uptime <= span) ?? last;
  const cached = last.m.engineTokensCached - first.m.engineTokensCached;
  const computed = last.m.engineTokensPrefilled - first.m.engineTokensPrefilled;
  return cached >= 0 && computed >= 0 && cached + computed > 0 ? cached / (cached + computed) : undefined;
}

function showSessions(m) {
  const states = [["hot", "k1", m.sessionsHot], ["warm", "k2", m.sessionsWarm], ["cold", "k3", m.sessionsCold], ["gone", "k5", m.sessionsGone]];
  const open = m.sessionsOpen ?? 0;
  $("sessions").replaceChildren(count(open), el("small", {}, " open"));
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 100 8");
  svg.setAttribute("preserveAspectRatio", "none");
  let x = 0;
  for (const [, key, value] of states) {
    if (!value || !open) continue;
    const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const width = (100 * value) / open;
    for (const [name, to] of Object.entries({ x, y: 0, width: Math.max(0, width - (x + width < 99.9 ? 0.6 : 0)), height: 8, class: key })) rect.setAttribute(name, to);
    svg.append(rect);
    x += width;
  }
  $("sessions-bar").replaceChildren(svg);
  $("sessions-legend").replaceChildren(...states.map(([name, key, value]) =>
    el("li", {}, el("span", { class: `key ${key}` }), el("b", {}, count(value ?? 0)), name)));
}

function showTiles(sample) {
  const m = sample.m;
  showSessions(m);
  setText("running", count(m.turnsRunning ?? 0));
  const waiting = (m.turnsPending ?? 0) - (m.turnsRunning ?? 0) + (m.requestsWaiting ?? 0);
  setText("waiting", waiting > 0 ? `${count(waiting)} waiting` : "none waiting");
  const all = m.engineTokensCached + m.engineTokensPrefilled;
  setText("hits", sample.hits === undefined ? (all > 0 ? percent(m.engineTokensCached / all) : "–") : percent(sample.hits));
  setText("hits-sub", sample.hits === undefined ? (all > 0 ? "since the start" : "no prompts yet") : "of prompt tokens, last minute");
  setText("decode", sample.decode === undefined ? "–" : count(sample.decode));
  setText("prefill", sample.prefill === undefined ? "–" : count(sample.prefill));
  setText("ttft", sample.ttft50 ? millis(sample.ttft50) : "–");
  setText("ttft-sub", sample.ttft99 ? `median; p99 ${millis(sample.ttft99)}` : "no turns yet");
}

const CHARTS = [
  { id: "chart-tokens", title: "Tokens per second", format: count, least: 10, series: [["decode", "decode", "k1"], ["prefill", "prefill", "k2"]] },
  { id: "chart-hits", title: "Cache hit rate, last minute", format: percent, least: 1, most: 1, series: [["hits", "prompt tokens from the cache", "k1"]] },
  { id: "chart-ttft", title: "Time to first token, last 1,000 turns", format: millis, least: 10, series: [["ttft50", "median", "k1"], ["ttft99", "p99", "k3"]] },
  { id: "chart-batch", title: "Batch", format: (v) => (v < 10 && v % 1 ? v.toFixed(1) : count(v)), least: 4, series: [["running", "requests running", "k1"], ["waiting", "waiting", "k3"], ["step", "tokens per step", "k2"]] },
];

function showCharts() {
  for (const chart of CHARTS) drawChart($(chart.id), chart, samples, WINDOW);
}

function tierRow(name, used, total, unit, size, unused) {
  const cells = unused
    ? [el("td", { class: "muted" }, "not used"), el("td", {}, ""), el("td", {}, "")]
    : [
        el("td", {}, total ? el("meter", { min: 0, max: 1, value: used / total, "aria-label": `${name} used` }) : ""),
        el("td", {}, unit),
        el("td", {}, size),
      ];
  return el("tr", { class: unused ? "unused" : null }, el("th", { scope: "row" }, name), ...cells);
}

function showTiers(m) {
  const used = m.pages - m.pagesFree;
  const cached = (m.pagesEvictable ?? 0) + (m.pagesProtected ?? 0);
  const store = (title, tier) => {
    const limit = m[`tier.${tier}.storeBytesLimit`];
    const size = m[`tier.${tier}.storeBytes`];
    return tierRow(title, size, limit, count(m[`tier.${tier}.storePages`] ?? 0), `${bytes(size ?? 0)} of ${bytes(limit ?? 0)}`, !limit);
  };
  $("tiers").replaceChildren(
    tierRow("Device", used, m.pages, `${count(used)} of ${count(m.pages)}`, `${count(cached)} cached, ${count(m.pagesProtected ?? 0)} in use`, !m.pages),
    tierRow("Host", m.hostPagesUsed, m.hostPages, `${count(m.hostPagesUsed ?? 0)} of ${count(m.hostPages ?? 0)}`, "", !m.hostPages),
    store("Disk", "disk"),
    store("Remote", "remote"));
}

function showCheckpoints(c) {
  const rows = [["Completed", count(c.completed)], ["Failed", c.failed ? `${count(c.failed)}${c.failed_at ? `, the last ${ago(c.failed_at)}` : ""}` : "none", c.failed_at > (c.last_at ?? 0)]];
  if (c.last_at) {
    rows.unshift(["Last", ago(c.last_at)], ["Took", millis(c.last_duration_ms)], ["Size", `${bytes(c.last_bytes)} new of ${bytes(c.last_state_bytes)}`]);
  } else {
    rows.unshift(["Last", "none yet"]);
  }
  $("checkpoints").replaceChildren(...rows.flatMap(([name, value, bad]) => [el("dt", {}, name), el("dd", { class: bad ? "bad" : null }, value)]));
}

function showState(state, text) {
  $("state").dataset.state = state;
  setText("state-text", text);
}

function note(id, message) {
  $(id).hidden = !message;
  setText(id, message ?? "");
}

/** Says that there are no new figures; the last ones stay, with their age. */
function missing(message, starting) {
  const last = samples.at(-1);
  note("problem", starting ? null : `${message}${last ? ` (These figures were read ${ago(last.at)}.)` : ""}`);
  showState(starting ? "wait" : "bad", starting ? "Connecting" : last ? "Old figures" : "No figures");
}

function showFigures(figures) {
  if (figures.status !== "ok") {
    missing(figures.message, figures.status === "starting");
    return;
  }
  note("problem", null);
  const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
  const running = figures.job === "RUNNING";
  showState(running ? "ok" : "warn", `${running ? "Running" : figures.job.toLowerCase()} · ${plural(figures.subtasks, "subtask")} · ${plural(figures.engines, "engine")}`);
  showCheckpoints(figures.checkpoints);
  if (figures.metrics.pages === undefined) return;
  showTiles(keep(figures));
  showTiers(figures.metrics);
  showCharts();
}

const tree = new RadixTree({ area: $("tree"), info: $("node"), legend: $("tree-legend"), rows: $("tree-rows"), table: $("as-table"), ago });

function showTree(shown) {
  if (shown.status !== "ok") {
    note("tree-note", shown.status === "starting" ? null : shown.message);
    setText("tree-sub", "");
    return;
  }
  let message = null;
  if (shown.skipped > 0) message = "There are more cached pages than this page follows: the tree is not complete.";
  else if (shown.engines.some((engine) => engine.silent)) message = "An engine has not been heard of for a minute; its tree is what it last said.";
  note("tree-note", message);
  const nodes = shown.engines.reduce((sum, e) => sum + e.nodes_total, 0);
  const drawn = shown.engines.reduce((sum, e) => sum + e.nodes.length, 0);
  const tokens = shown.engines.reduce((sum, e) => sum + e.tokens_total, 0);
  setText("tree-sub", nodes === 0 ? "Nothing is cached yet."
    : `${count(tokens)} tokens in ${count(nodes)} nodes${drawn < nodes ? `; ${count(nodes - drawn)} smaller ones are not drawn` : ""}`);
  tree.show(shown.engines);
}

async function poll() {
  clearTimeout(timer);
  if (paused || needsKey || document.hidden) return;
  try {
    const [figures, shown] = await Promise.all([apiJson("/live/metrics"), apiJson("/live/tree")]);
    if (!paused) {
      showFigures(figures);
      showTree(shown);
    }
  } catch (e) {
    needsKey = e.status === 401 || e.status === 403;
    if (e.status === undefined || needsKey) {
      note("problem", needsKey ? e.message : `The page failed: ${e.message}`);
      showState("bad", e.status === 403 ? "Not allowed" : "No figures");
    } else {
      missing(e.message, false);
    }
    if (e.status === 401) await askForKey();
  }
  clearTimeout(timer);
  timer = setTimeout(poll, PERIOD);
}

$("pause").addEventListener("click", () => {
  paused = !paused;
  $("pause").setAttribute("aria-pressed", String(paused));
  setText("pause", paused ? "Go on" : "Pause");
  if (paused) showState("wait", "Paused");
  poll();
});
for (const by of ["sharing", "tier"]) {
  $(`by-${by}`).addEventListener("click", () => {
    $("by-sharing").setAttribute("aria-pressed", String(by === "sharing"));
    $("by-tier").setAttribute("aria-pressed", String(by === "tier"));
    tree.colourBy(by);
  });
}
document.addEventListener("visibilitychange", poll);
document.addEventListener("radixflow-key", () => { needsKey = false; poll(); });
new ResizeObserver(() => { showCharts(); tree.draw(); }).observe($("main"));
poll();
