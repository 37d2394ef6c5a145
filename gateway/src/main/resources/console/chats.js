// Conversations, kept in this browser. A conversation is a tree of turns: editing a message, or generating its reply
// again, adds a sibling. What the server knows of it are the conversations in `roots` and a response for each turn.

const LIST = "radixflow.chats";
const ONE = "radixflow.chat.";
export const NEW_NAME = "New conversation";

function read(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/**
 * All conversations, the latest first: id, name, when the last turn began (milliseconds since the epoch), and the ids
 * of the server's conversations (`roots`).
 */
export function list() {
  return read(LIST, []);
}

/** The conversations whose name or messages contain a text, whatever the case. */
export function search(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return list();
  const has = (some) => (some ?? "").toLowerCase().includes(wanted);
  return list().filter((entry) => has(entry.name)
    || Object.values(load(entry.id)?.turns ?? {}).some((turn) => has(turn.user) || has(turn.reply)));
}

/** A conversation, or null. */
export function load(id) {
  return read(ONE + id, null);
}

/** A conversation that is not kept before its first turn. */
export function create(settings, id = crypto.randomUUID?.() ?? String(Math.random()).slice(2)) {
  return { id, name: NEW_NAME, roots: [], chosen: null, turns: {}, settings: { ...settings } };
}

/** Keeps a conversation; throws if the browser has no room. */
export function save(chat, touch = false) {
  localStorage.setItem(ONE + chat.id, JSON.stringify(chat));
  const all = list();
  const at = all.findIndex((entry) => entry.id === chat.id);
  const entry = { id: chat.id, name: chat.name, at: touch || at < 0 ? Date.now() : all[at].at, roots: chat.roots };
  if (at < 0) all.unshift(entry);
  else if (touch) { all.splice(at, 1); all.unshift(entry); } else all[at] = entry;
  localStorage.setItem(LIST, JSON.stringify(all));
}

export function remove(id) {
  localStorage.setItem(LIST, JSON.stringify(list().filter((entry) => entry.id !== id)));
  localStorage.removeItem(ONE + id);
}

export function isKept(id) {
  return list().some((entry) => entry.id === id);
}

/** The turns after a turn, or the first ones for null, in the order in which they were made. */
export function children(chat, parent) {
  return Object.values(chat.turns).filter((turn) => turn.parent === parent).sort((a, b) => a.number - b.number);
}

/** The turns from the first to the last one that is shown. */
export function path(chat) {
  const turns = [];
  for (let id = chat.chosen; id && chat.turns[id]; id = chat.turns[id].chosen) turns.push(chat.turns[id]);
  return turns;
}

/** Has the path go through a turn. */
export function choose(chat, id) {
  for (let turn = chat.turns[id]; turn; turn = chat.turns[turn.parent]) {
    if (turn.parent === null) chat.chosen = turn.id;
    else chat.turns[turn.parent].chosen = turn.id;
  }
}

/** A message as a name: its first words, without the marks of Markdown. */
function named(text) {
  const plain = text.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/```\w*|^[ \t]*(?:#{1,6}|[-*+>]|\d+\.)[ \t]+/gm, " ").replace(/[*_`~|]+/g, "");
  return plain.trim().replace(/\s+/g, " ").slice(0, 60) || NEW_NAME;
}

/** A key under which a request may be sent again. */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

/**
 * Adds a turn after `parent`, and makes it the end of the path that the page shows.
 *
 * @param parent null for a first turn
 * @param user the message
 * @param more other fields: `files` (name, text), `outputs` of calls (call_id, name, output), `begun` (a reply to
 *     continue), or `reply` and `status` of a turn that is not sent
 */
export function add(chat, parent, user, more = {}) {
  const number = 1 + Math.max(0, ...Object.values(chat.turns).map((turn) => turn.number));
  const turn = { id: `t${number}`, number, parent, chosen: null, user, reply: "", status: "in_progress", response: null, sequence: -1, key: newKey(), started: Date.now(), settings: { ...chat.settings }, ...more };
  chat.turns[turn.id] = turn;
  if (chat.name === NEW_NAME) chat.name = named(user || turn.files?.[0]?.name || "");
  choose(chat, turn.id);
  return turn;
}

/** Removes a turn and all turns after it; returns them, the last ones first. */
export function prune(chat, id) {
  const gone = [...children(chat, id).flatMap((turn) => prune(chat, turn.id)), chat.turns[id]];
  const { parent } = chat.turns[id];
  delete chat.turns[id];
  const left = children(chat, parent).at(-1)?.id ?? null;
  if (parent === null) chat.chosen = left;
  else if (chat.turns[parent]) chat.turns[parent].chosen = left;
  return gone;
}

/** The message of a turn with its files, as the model reads it. */
export function sentText(turn) {
  const files = (turn.files ?? []).map(({ name, text }) => `File ${name}:\n\`\`\`\n${text}\n\`\`\`\n\n`);
  return files.join("") + turn.user;
}

export function isRunning(turn) {
  return turn.status === "in_progress";
}
