// The chat page: which conversation is open, what its user does, and the replies that are followed.
import { askForKey, el } from "/console/base.js";
import * as chats from "/console/chats.js";
import { cancel, erase, follow } from "/console/replies.js";
import { showTree } from "/console/tree.js";
import { refresh, turnElement } from "/console/turns.js";

const SAVE_MILLIS = 500;
const SHOW_MILLIS = 40;
const DEFAULTS = "radixflow.settings";
const at = (id) => document.getElementById(id);

let chat = null;
/** Replies that are followed, also of conversations that are not open: turn -> {chat, abort}. */
const followed = new Map();

function defaults() {
  try {
    return JSON.parse(localStorage.getItem(DEFAULTS)) ?? {};
  } catch {
    return {};
  }
}

function problem(text) {
  at("problem").hidden = !text;
  at("problem").textContent = text ?? "";
}

function keep(some, touch) {
  try {
    chats.save(some, touch);
  } catch {
    problem("This browser has no room for more conversations: delete some.");
  }
}

function announce(text) {
  at("status").textContent = text;
}

// ---- what is shown

const actions = {
  choose(id) {
    chats.choose(chat, id);
    keep(chat);
    showChat();
  },
  regenerate(turn) {
    start(chats.add(chat, turn.parent, turn.user));
  },
  fork(turn, text) {
    start(chats.add(chat, turn.parent, text));
  },
};

function showList() {
  const all = chats.list();
  at("chats").replaceChildren(...all.map((entry) => el("li", {}, el("button", {
    type: "button", "aria-current": entry.id === chat.id ? "true" : null, onclick: () => { open(entry.id); showSide(false); at("message").focus(); },
  }, entry.name))));
}

function showChat() {
  const turns = chats.path(chat);
  at("log").replaceChildren(...(turns.length ? turns.map((turn) => turnElement(chat, turn, actions)) : [greeting()]));
  at("name").value = chat.name;
  at("delete").disabled = turns.length === 0;
  if (!at("tree").hidden) showTree(at("tree"), chat, actions.choose);
  showRunning();
  at("log").scrollTop = at("log").scrollHeight;
}

function greeting() {
  return el("div", { class: "greeting" },
    el("h2", {}, "What would you like to know?"),
    el("p", { class: "muted" }, "Replies are generated in the job, not in this page: reload it in the middle of one, and it goes on."));
}

/** The last turn that is shown, if its reply is being generated. */
function running() {
  const last = chats.path(chat).at(-1);
  return last && chats.isRunning(last) ? last : null;
}

function showRunning() {
  const busy = running() !== null;
  at("send").hidden = busy;
  at("stop").hidden = !busy;
  at("stop").disabled = false;
}

function showTurn(some, turn) {
  if (some !== chat) return;
  const element = at("log").querySelector(`[data-turn="${turn.id}"]`);
  const log = at("log");
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
  if (element) refresh(element, turn, actions);
  if (atEnd) log.scrollTop = log.scrollHeight;
}

// ---- replies

function every(millis, task) {
  let timer = null;
  return {
    soon() { timer ??= setTimeout(() => { timer = null; task(); }, millis); },
    now() { clearTimeout(timer); timer = null; task(); },
  };
}

/** Follows a reply until it is whole; several may be followed at once. */
async function attend(some, turn) {
  if (followed.has(turn)) return;
  const abort = new AbortController();
  followed.set(turn, { chat: some, abort });
  const saver = every(SAVE_MILLIS, () => { if (chats.isKept(some.id)) keep(some); });
  const shower = every(SHOW_MILLIS, () => showTurn(some, turn));
  let named = null;
  const changed = () => {
    // a turn that has a name now can be found after a reload
    if (named !== (turn.response ?? turn.conversation)) saver.now(); else saver.soon();
    named = turn.response ?? turn.conversation;
    shower.soon();
    if (turn.stopping && turn.response) stop(turn);
  };
  await follow(some, turn, abort.signal, changed, (error) => {
    if (some === chat) problem(error ? `${error.message} Trying again…` : null);
  });
  followed.delete(turn);
  if (abort.signal.aborted && !chats.isKept(some.id)) return;
  if (abort.signal.aborted && chats.isRunning(turn)) turn.status = "cancelled";
  saver.now();
  shower.now();
  if (some !== chat) return;
  problem(null);
  showRunning();
  announce(turn.status === "failed" ? `The reply failed: ${turn.error}` : `Reply: ${turn.reply.slice(0, 2000)}`);
  if (turn.keyless) askForKey();
}

function start(turn) {
  keep(chat, true);
  problem(null);
  showList();
  showChat();
  announce("The reply is being generated.");
  at("message").focus();
  attend(chat, turn);
}

async function stop(turn) {
  const entry = followed.get(turn);
  at("stop").disabled = true;
  if (!turn.response) {
    // the job may have the turn already: it is stopped as soon as its name is known
    if (turn.stopping) entry?.abort.abort();
    turn.stopping = true;
    at("stop").disabled = false;
    return;
  }
  turn.stopping = false;
  try {
    await cancel(turn);
  } catch (error) {
    problem(error.message);
    at("stop").disabled = false;
  }
}

// ---- what the user does

function open(id) {
  const kept = [...followed.values()].map((entry) => entry.chat).find((some) => some.id === id);
  chat = kept ?? chats.load(id) ?? chats.create(defaults());
  sessionStorage.setItem("radixflow.open", chat.id);
  problem(null);
  showList();
  showChat();
  for (const turn of Object.values(chat.turns)) if (chats.isRunning(turn)) attend(chat, turn);
}

function send() {
  const text = at("message").value;
  if (!text.trim() || running()) return;
  const last = chats.path(chat).at(-1);
  if (last && !last.response) {
    problem("The last message was not answered: try it again, or edit it.");
    return;
  }
  at("message").value = "";
  grow();
  start(chats.add(chat, last?.id ?? null, text));
}

function grow() {
  const area = at("message");
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight + 2, 200)}px`;
}

function showSide(shown) {
  at("side").classList.toggle("shown", shown);
  at("side-button").setAttribute("aria-expanded", String(shown));
}

function number(id) {
  const value = at(id).value.trim();
  return value === "" ? null : Number(value);
}

function settings() {
  at("system").value = chat.settings.system ?? "";
  at("temperature").value = chat.settings.temperature ?? "";
  at("max-tokens").value = chat.settings.maxTokens ?? "";
  at("settings").returnValue = "";
  at("settings").showModal();
}

function saveSettings() {
  if (at("settings").returnValue !== "save") return;
  chat.settings = { system: at("system").value.trim(), temperature: number("temperature"), maxTokens: number("max-tokens") };
  localStorage.setItem(DEFAULTS, JSON.stringify(chat.settings));
  if (chats.isKept(chat.id)) keep(chat);
}

async function deleteChat() {
  if (at("confirm").returnValue !== "delete") return;
  const gone = chat;
  try {
    await erase(gone);
  } catch (error) {
    problem(`The conversation is not deleted: ${error.message}`);
    return;
  }
  chats.remove(gone.id);
  for (const entry of followed.values()) if (entry.chat === gone) entry.abort.abort();
  open(chats.list()[0]?.id);
  at("message").focus();
}

at("new").addEventListener("click", () => { open(null); showSide(false); at("message").focus(); });
at("side-button").addEventListener("click", () => showSide(!at("side").classList.contains("shown")));
at("composer").addEventListener("submit", (event) => { event.preventDefault(); send(); });
at("message").addEventListener("input", grow);
at("message").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); send(); }
});
at("main").addEventListener("keydown", (event) => {
  if (event.key === "Escape" && running()) stop(running());
});
at("stop").addEventListener("click", () => stop(running()));
at("name").addEventListener("change", () => {
  chat.name = at("name").value.trim() || chats.NEW_NAME;
  if (chats.isKept(chat.id)) keep(chat);
  showList();
});
at("tree-button").addEventListener("click", () => {
  at("tree").hidden = !at("tree").hidden;
  at("tree-button").setAttribute("aria-expanded", String(!at("tree").hidden));
  if (!at("tree").hidden) showTree(at("tree"), chat, actions.choose);
});
at("settings-button").addEventListener("click", settings);
at("settings").addEventListener("close", saveSettings);
at("delete").addEventListener("click", () => { at("confirm").returnValue = ""; at("confirm").showModal(); });
at("confirm").addEventListener("close", deleteChat);
addEventListener("pagehide", () => { for (const entry of followed.values()) keep(entry.chat); });
// another tab has changed the list, or this conversation
addEventListener("storage", (event) => {
  if (event.key === `radixflow.chat.${chat.id}` && event.newValue && ![...followed.values()].some((entry) => entry.chat === chat)) open(chat.id);
  else showList();
});

open(sessionStorage.getItem("radixflow.open") ?? chats.list()[0]?.id);
at("message").focus();
