// The chat page: which conversation is open, what its user does, and the replies that are followed.
import { askForKey, el } from "/console/base.js";
import * as chats from "/console/chats.js";
import * as listed from "/console/listed.js";
import { cancel, deleteTurns, erase, follow } from "/console/replies.js";
import { openSettings } from "/console/settings.js";
import { exportChats, exportMarkdown, fromServer, importFile } from "/console/transfer.js";
import { showTree } from "/console/tree.js";
import { refresh, turnElement } from "/console/turns.js";

const SAVE_MILLIS = 500;
const SHOW_MILLIS = 40;
const SEARCH_MILLIS = 200;
const DEFAULTS = "radixflow.settings";
/** A paste of more characters becomes a file. */
const LONG_PASTE = 4000;
const MOST_FILE_BYTES = 1 << 20;
const EXAMPLES = ["Explain prefix caching in three sentences.", "Write a Python function that merges two sorted lists.", "Compare three ways to make coffee in a table."];
const at = (id) => document.getElementById(id);

let chat = null;
/** The server's conversation that is being loaded. */
let loading = null;
/** Replies that are followed, also of conversations that are not open: turn -> {chat, abort}. */
const followed = new Map();
/** Files that go with the next message: name and text. */
let files = [];

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

// ---- the page

const actions = {
  choose(id) {
    chats.choose(chat, id);
    keep(chat);
    showChat();
  },
  isLast(turn) {
    return chats.path(chat).at(-1) === turn;
  },
  regenerate(turn) {
    start(chats.add(chat, turn.parent, turn.user, { files: turn.files, outputs: turn.outputs }));
  },
  fork(turn, text) {
    start(chats.add(chat, turn.parent, text, { files: turn.files }));
  },
  goOn(turn) {
    start(chats.add(chat, turn.parent, turn.user, { files: turn.files, outputs: turn.outputs, begun: turn.reply, reply: turn.reply }));
  },
  correct(turn, reply) {
    chats.add(chat, turn.parent, turn.user, { files: turn.files, outputs: turn.outputs, reply, status: "completed", edited: true });
    keep(chat, true);
    showChat();
  },
  answer(turn, outputs) {
    start(chats.add(chat, turn.id, "", { outputs }));
  },
  remove(turn) {
    confirmed("Delete this message, its reply and all turns after it?", "They are deleted in this browser and at the server.", async () => {
      for (const entry of followed.values()) if (entry.chat === chat) entry.abort.abort();
      await deleteTurns(chats.prune(chat, turn.id));
      keep(chat);
      showChat();
    });
  },
};

/** Asks before something is deleted. */
function confirmed(question, what, then) {
  at("confirm-title").textContent = question;
  at("confirm-what").textContent = what;
  at("confirm").returnValue = "";
  at("confirm").showModal();
  at("confirm").addEventListener("close", async () => {
    if (at("confirm").returnValue !== "delete") return;
    try {
      await then();
    } catch (error) {
      problem(`Nothing more is deleted: ${error.message}`);
    }
    at("message").focus();
  }, { once: true });
}

function day(time) {
  const date = new Date(time);
  if (date.toDateString() === new Date().toDateString()) return date.toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit", hour12: false });
  return date.toLocaleDateString("en", { day: "numeric", month: "short", year: date.getFullYear() === new Date().getFullYear() ? undefined : "numeric" });
}

function showList() {
  const text = at("search").value.trim();
  const found = [...chats.search(text), ...listed.others(text)].sort((a, b) => (b.at ?? 0) - (a.at ?? 0));
  at("chats").replaceChildren(...found.map((entry) => el("li", {}, el("button", {
    type: "button", "aria-current": entry.id === chat.id ? "true" : null, onclick: () => { open(entry.id); showSide(false); at("message").focus(); },
  }, el("span", { class: "label" }, entry.name), ...(entry.at ? [el("time", { datetime: new Date(entry.at).toISOString() }, day(entry.at))] : [])))));
  at("none-found").hidden = found.length > 0 || !text;
  at("older").hidden = !listed.hasMore();
}

async function askServer(more = false) {
  if (await listed.ask(at("search").value.trim(), more)) showList();
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
    el("p", { class: "muted" }, "Replies are generated in the job, not in this page: reload the page in the middle of a reply, and the reply continues."),
    el("div", { class: "examples" }, ...EXAMPLES.map((text) => el("button", { type: "button", onclick: () => { at("message").value = text; grow(); at("message").focus(); } }, text))));
}

function showFiles() {
  at("files").replaceChildren(...files.map((file) => el("li", {}, `${file.name} (${file.text.length.toLocaleString("en")} characters)`,
    el("button", { type: "button", class: "quiet", "aria-label": `Remove ${file.name}`, onclick: () => { files = files.filter((each) => each !== file); showFiles(); at("message").focus(); } }, "✕"))));
  at("files").hidden = files.length === 0;
}

/** Adds text files to the next message. */
async function attach(some) {
  for (const file of some) {
    const bytes = await file.slice(0, MOST_FILE_BYTES + 1).arrayBuffer();
    try {
      if (bytes.byteLength > MOST_FILE_BYTES) throw new RangeError();
      const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      if (text.includes("\0")) throw new TypeError();
      files.push({ name: file.name, text });
    } catch (error) {
      problem(error instanceof RangeError ? `${file.name} is larger than 1 MiB.` : `${file.name} is not a text file.`);
    }
  }
  showFiles();
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
  const kept = [...followed.values()].map((entry) => entry.chat).find((some) => some.id === id) ?? chats.load(id);
  loading = kept ? null : id;
  const atServer = !kept && id?.startsWith("conv_");
  if (!atServer || chat === null) show(kept ?? chats.create(defaults()));
  if (atServer) openAtServer(id);
}

/** Opens a conversation that this browser does not keep. It is kept from its next turn on. */
async function openAtServer(id) {
  try {
    const come = await fromServer(id);
    if (loading === id) show(come);
  } catch (error) {
    if (loading === id) problem(error.message);
  }
}

function show(some) {
  chat = some;
  sessionStorage.setItem("radixflow.open", chat.id);
  problem(null);
  showList();
  showChat();
  for (const turn of Object.values(chat.turns)) if (chats.isRunning(turn)) attend(chat, turn);
}

function send() {
  const text = at("message").value;
  if (!(text.trim() || files.length) || running()) return;
  const last = chats.path(chat).at(-1);
  if (last?.status === "failed") {
    problem("The last message was not answered: try it again, or edit it.");
    return;
  }
  at("message").value = "";
  grow();
  const attached = files.length ? { files } : {};
  files = [];
  showFiles();
  start(chats.add(chat, last?.id ?? null, text, attached));
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

function deleteChat() {
  const gone = chat;
  confirmed("Delete this conversation?", "It is erased in this browser and at the server, with all its branches.", async () => {
    await erase(gone);
    listed.forget(gone);
    chats.remove(gone.id);
    for (const entry of followed.values()) if (entry.chat === gone) entry.abort.abort();
    open(chats.list()[0]?.id);
  });
}

/** Keeps conversations that came from elsewhere, and shows the last of them. */
async function receive(get) {
  at("transfer").close();
  try {
    const come = await get();
    come.forEach((each) => keep(each, true));
    if (come.length) open(come.at(-1).id);
    announce(`${come.length} conversations were added.`);
  } catch (error) {
    problem(error.message);
  }
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
at("settings-button").addEventListener("click", () => openSettings(chat.settings, (settings) => {
  chat.settings = settings;
  localStorage.setItem(DEFAULTS, JSON.stringify(settings));
  if (chats.isKept(chat.id)) keep(chat);
}));
at("delete").addEventListener("click", deleteChat);
const asker = every(SEARCH_MILLIS, askServer);
at("search").addEventListener("input", () => { showList(); asker.soon(); });
at("older").addEventListener("click", () => askServer(true));
at("transfer-button").addEventListener("click", () => {
  at("export").disabled = at("export-text").disabled = Object.keys(chat.turns).length === 0;
  at("export-all").disabled = chats.list().length === 0;
  at("transfer").showModal();
});
at("export").addEventListener("click", () => exportChats([chat], chat.name));
at("export-text").addEventListener("click", () => exportMarkdown(chat));
at("export-all").addEventListener("click", () => exportChats(chats.list().map((entry) => chats.load(entry.id)).filter(Boolean), "conversations"));
at("import").addEventListener("change", () => { const [file] = at("import").files; if (file) receive(() => importFile(file)); at("import").value = ""; });
at("server-form").addEventListener("submit", (event) => { event.preventDefault(); const id = at("server-id").value.trim(); receive(async () => [chats.load(id) ?? await fromServer(id)]); });
at("attach").addEventListener("click", () => at("file").click());
at("file").addEventListener("change", () => { attach([...at("file").files]); at("file").value = ""; });
at("main").addEventListener("dragover", (event) => { if (event.dataTransfer.types.includes("Files")) event.preventDefault(); });
at("main").addEventListener("drop", (event) => { if (event.dataTransfer.files.length) { event.preventDefault(); attach([...event.dataTransfer.files]); } });
at("message").addEventListener("paste", (event) => {
  const text = event.clipboardData.getData("text/plain");
  if (text.length <= LONG_PASTE) return;
  event.preventDefault();
  files.push({ name: `paste-${files.length + 1}.txt`, text });
  showFiles();
});
addEventListener("pagehide", () => { for (const entry of followed.values()) keep(entry.chat); });
// another tab has changed the list, or this conversation
addEventListener("storage", (event) => {
  if (event.key === `radixflow.chat.${chat.id}` && event.newValue && ![...followed.values()].some((entry) => entry.chat === chat)) open(chat.id);
  else showList();
});

document.addEventListener("visibilitychange", () => { if (!document.hidden) askServer(); });
document.addEventListener("radixflow-key", () => askServer());

open(sessionStorage.getItem("radixflow.open") ?? chats.list()[0]?.id);
at("message").focus();
askServer();
