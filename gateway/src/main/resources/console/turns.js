// What a turn looks like: the user's message, the reply, what can be done with them, and what the cache did.
import { el } from "/console/base.js";
import { children, isRunning } from "/console/chats.js";
import { copyButton, showMarkdown } from "/console/markdown.js";

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
  return [bar, el("span", {
    title: parts.map(([name, tokens]) => `${tokens} ${name}`).join(", "),
  }, `${cached} of ${counts.input_tokens} prompt tokens cached, ${percent}\u202f%${from} · ${counts.output_tokens} generated`)];
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
  tools.push(tool(turn.status === "failed" ? "Try again" : "Regenerate", "Generate the reply again", () => actions.regenerate(turn)));
  const end = ENDS[turn.status];
  return [...tools, el("span", { class: "usage" }, ...(end ? [el("span", { class: "end" }, end)] : []), ...usage(turn))];
}

/** Makes the element of a turn. */
export function turnElement(chat, turn, actions) {
  const element = el("article", { class: "turn", "data-turn": turn.id },
    el("div", { class: "user" },
      el("h2", { class: "visually-hidden" }, "You"),
      el("p", { class: "text" }, turn.user),
      el("div", { class: "tools" }, ...siblings(chat, turn, actions), tool("Edit", "Edit message", () => edit(element, turn, actions)))),
    el("div", { class: "reply" },
      el("h2", { class: "visually-hidden" }, "Reply"),
      el("details", { class: "reasoning", hidden: true }, el("summary", {}, "Reasoning"), el("p")),
      el("div", { class: "text" }),
      el("div", { class: "calls" }),
      el("p", { class: "error", hidden: true }),
      el("div", { class: "tools" })));
  refresh(element, turn, actions);
  return element;
}

/** Shows what has changed of a turn's reply. */
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
  for (const call of calls.slice(shown.children.length)) {
    shown.append(el("details", {}, el("summary", {}, `Call of ${call.name}`), el("p", {}, call.arguments)));
  }
  const error = reply.querySelector(".error");
  error.hidden = turn.status !== "failed";
  error.textContent = turn.error ?? "The reply failed.";
  if (element.shownStatus !== turn.status) {
    element.shownStatus = turn.status;
    reply.querySelector(".tools").replaceChildren(...foot(turn, actions));
  }
}

/** Puts an editor in place of the message; what is sent makes a sibling. */
function edit(element, turn, actions) {
  const user = element.querySelector(".user");
  const kept = [...user.childNodes];
  const back = () => { user.classList.remove("editing"); user.replaceChildren(...kept); user.querySelector(".tools button:last-child").focus(); };
  const text = el("textarea", { rows: "3", "aria-label": "Edited message" });
  text.value = turn.user;
  const send = () => { if (text.value.trim()) actions.fork(turn, text.value); };
  text.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.stopPropagation(); back(); }
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); send(); }
  });
  user.classList.add("editing");
  user.replaceChildren(text, el("div", { class: "buttons" },
    el("button", { type: "button", onclick: back }, "Cancel"),
    el("button", { type: "button", class: "primary", onclick: send }, "Send as a new version")));
  text.focus();
}
