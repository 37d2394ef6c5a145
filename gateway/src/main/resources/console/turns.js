// What a turn looks like: the user's message, the reply, what can be done with them, and what the cache did.
import { el } from "/console/base.js";
import { children, isRunning } from "/console/chats.js";
import { copyButton, showMarkdown } from "/console/markdown.js";
import { colouredCode } from "/console/notation.js";

const TIERS = [["cached_host_tokens", "host memory"], ["cached_disk_tokens", "disk"], ["cached_remote_tokens", "remote"]];
const ENDS = { cancelled: "Stopped", incomplete: "Cut off at the limit of tokens" };

/** Where the prompt's tokens came from: [name, class, tokens], the fastest first. */
function origins(usage) {
  const details = usage.input_tokens_details ?? {};
  const lower = TIERS.map(([field, name]) => [name, details[field] ?? 0]);
  const below = lower.reduce((sum, [, tokens]) => sum + tokens, 0);
  const cached = details.cached_tokens ?? 0;
  return [["device", cached - below], ...lower, ["computed", usage.input_tokens - cached]].filter(([, tokens]) => tokens > 0);
}

/** The counts of a reply, with a bar of where its prompt came from. */
function usage(turn) {
  const counts = turn.usage;
  if (!counts) return [];
  const cached = counts.input_tokens_details?.cached_tokens ?? 0;
  const parts = origins(counts);
  const bar = el("span", { class: "share", "aria-hidden": "true" }, ...parts.map(([name, tokens]) => {
    const part = el("span", { class: name.split(" ")[0] });
    part.style.flexGrow = tokens;
    return part;
  }));
  const percent = counts.input_tokens ? Math.floor((100 * cached) / counts.input_tokens) : 0;
  const where = parts.filter(([name]) => name !== "computed").map(([name, tokens]) => (tokens === cached ? name : `${tokens} ${name}`));
  const from = where.length ? ` (${where.join(", ")})` : "";
  return [bar, ...speed(turn), el("span", {
    title: parts.map(([name, tokens]) => `${tokens} ${name}`).join(", "),
  }, `${cached} of ${counts.input_tokens} prompt tokens cached, ${percent}\u202f%${from} · ${counts.output_tokens} generated`)];
}

function seconds(millis) {
  return `${(millis / 1000).toFixed(millis < 9950 ? 1 : 0)} s`;
}

/** How fast a reply came, if this page saw all of it. */
function speed(turn) {
  if (turn.resumed || !turn.first || !turn.ended || !turn.started) return [];
  const tokens = turn.usage.output_tokens - 1;
  const rate = tokens > 0 && turn.ended > turn.first ? `${((1000 * tokens) / (turn.ended - turn.first)).toFixed(1)} tokens/s · ` : "";
  return [el("span", { class: "speed" }, `${rate}first token after ${seconds(turn.first - turn.started)} · ${seconds(turn.ended - turn.started)} in all`)];
}

function siblings(chat, turn, actions) {
  const all = children(chat, turn.parent);
  if (all.length < 2) return [];
  const at = all.indexOf(turn);
  const arrow = (text, label, to) => el("button", {
    type: "button", class: "quiet", "aria-label": label, disabled: !all[to], onclick: () => actions.choose(all[to].id),
  }, text);
  return [arrow("‹", "Previous version", at - 1), el("span", { class: "count", "aria-label": `Version ${at + 1} of ${all.length}` , role: "img" }, `${at + 1}/${all.length}`), arrow("›", "Next version", at + 1)];
}

function tool(text, label, onclick) {
  return el("button", { type: "button", class: "quiet", "aria-label": label, onclick }, text);
}

function foot(turn, actions) {
  if (isRunning(turn)) return [];
  const tools = [];
  if (turn.reply) tools.push(copyButton(() => turn.reply, "Copy reply"));
  if (turn.status === "incomplete" && turn.reply) tools.push(tool("Continue", "Continue the reply", () => actions.goOn(turn)));
  tools.push(tool(turn.status === "failed" ? "Try again" : "Regenerate", "Generate the reply again", () => actions.regenerate(turn)));
  if (turn.reply) tools.push(tool("Edit", "Edit reply", (event) => edit(event.currentTarget.closest(".reply"), turn.reply, "Keep as a new version", (text) => actions.correct(turn, text))));
  tools.push(tool("Delete", "Delete the message, its reply and all after it", () => actions.remove(turn)));
  const end = turn.edited ? "Edited" : ENDS[turn.status];
  return [...tools, el("span", { class: "usage" }, ...(end ? [el("span", { class: "end" }, end)] : []), ...usage(turn))];
}

/** Text that is JSON, with line breaks; other text as it is. */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function call(some) {
  return el("details", {}, el("summary", {}, `Call of ${some.name}`), el("pre", { tabindex: "0" }, colouredCode(pretty(some.arguments), "json")));
}

/** Fields for the results of a reply's calls. */
function results(turn, actions) {
  const fields = turn.calls.map((some) => el("textarea", { rows: "2", "aria-label": `Result of ${some.name}`, placeholder: `Result of ${some.name}` }));
  const send = (event) => {
    event.preventDefault();
    actions.answer(turn, turn.calls.map(({ call_id, name }, i) => ({ call_id, name, output: fields[i].value })));
  };
  return el("form", { class: "results", onsubmit: send }, ...fields, el("div", { class: "buttons" }, el("button", { class: "primary" }, "Send results")));
}

/** What the user sent: files, results of calls, and a message. */
function sent(turn) {
  const folded = (title, text) => el("details", { class: "attached" }, el("summary", {}, title), el("pre", { tabindex: "0" }, text));
  return [
    ...(turn.files ?? []).map((file) => folded(file.name, file.text)),
    ...(turn.outputs ?? []).map((each) => folded(`Result of ${each.name}`, each.output)),
    ...(turn.user ? [el("p", { class: "text" }, turn.user)] : []),
  ];
}

/** Makes the element of a turn. */
export function turnElement(chat, turn, actions) {
  const element = el("article", { class: "turn", "data-turn": turn.id },
    el("div", { class: "user" },
      el("h2", { class: "visually-hidden" }, "You"),
      ...sent(turn),
      el("div", { class: "tools" }, ...siblings(chat, turn, actions), ...(turn.user ? [
        copyButton(() => turn.user, "Copy message"),
        tool("Edit", "Edit message", () => edit(element.querySelector(".user"), turn.user, "Send as a new version", (text) => actions.fork(turn, text))),
      ] : []))),
    el("div", { class: "reply" },
      el("h2", { class: "visually-hidden" }, "Reply"),
      el("details", { class: "reasoning", hidden: true }, el("summary", {}, "Reasoning"), el("p")),
      el("div", { class: "text" }),
      el("div", { class: "calls" }),
      el("div", { class: "answers" }),
      el("p", { class: "error", hidden: true }),
      el("div", { class: "tools" })));
  refresh(element, turn, actions);
  return element;
}

/** Updates the view of a turn's reply. */
export function refresh(element, turn, actions) {
  const reply = element.querySelector(".reply");
  reply.classList.toggle("running", isRunning(turn));
  reply.setAttribute("aria-busy", String(isRunning(turn)));
  const reasoning = reply.querySelector(".reasoning");
  reasoning.hidden = !turn.reasoning;
  reasoning.querySelector("p").textContent = turn.reasoning ?? "";
  showMarkdown(reply.querySelector(".text"), turn.reply);
  const calls = turn.calls ?? [];
  const shown = reply.querySelector(".calls");
  shown.append(...calls.slice(shown.children.length).map(call));
  const error = reply.querySelector(".error");
  error.hidden = turn.status !== "failed";
  error.textContent = turn.error ?? "The reply failed.";
  if (element.shownStatus !== turn.status) {
    element.shownStatus = turn.status;
    reply.querySelector(".tools").replaceChildren(...foot(turn, actions));
    const open = calls.length > 0 && !isRunning(turn) && actions.isLast(turn);
    reply.querySelector(".answers").replaceChildren(...(open ? [results(turn, actions)] : []));
  }
}

/** Replaces a message or reply with an editor. The button that sends makes a new version of the text. */
function edit(part, text, label, done) {
  const kept = [...part.childNodes];
  const back = () => { part.classList.remove("editing"); part.replaceChildren(...kept); part.querySelector(".tools button:last-child").focus(); };
  const area = el("textarea", { rows: String(Math.min(12, Math.max(3, text.split("\n").length))), "aria-label": "Edited text" });
  area.value = text;
  const send = () => { if (area.value.trim()) done(area.value); };
  area.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.stopPropagation(); back(); }
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); send(); }
  });
  part.classList.add("editing");
  part.replaceChildren(area, el("div", { class: "buttons" },
    el("button", { type: "button", onclick: back }, "Cancel"),
    el("button", { type: "button", class: "primary", onclick: send }, label)));
  area.focus();
}
