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

/** All conversations, the latest first: id and name. */
export function list() {
  return read(LIST, []);
}

/** A conversation, or null. */
export function load(id) {
  return read(ONE + id, null);
}

/** A conversation that is not kept before its first turn. */
export function create(settings) {
  return { id: crypto.randomUUID?.() ?? String(Math.random()).slice(2), name: NEW_NAME, roots: [], chosen: null, turns: {}, settings: { ...settings } };
}

/** Keeps a conversation; throws if the browser has no room. */
export function save(chat, touch = false) {
  localStorage.setItem(ONE + chat.id, JSON.stringify(chat));
  const all = list();
  const at = all.findIndex((entry) => entry.id === chat.id);
  const entry = { id: chat.id, name: chat.name };
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

/** Adds a turn after another one, or as a first one for null, and has the path end with it. */
export function add(chat, parent, user) {
  const number = 1 + Math.max(0, ...Object.values(chat.turns).map((turn) => turn.number));
  const key = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
  const turn = { id: `t${number}`, number, parent, chosen: null, user, reply: "", status: "in_progress", response: null, sequence: -1, key, settings: { ...chat.settings } };
  chat.turns[turn.id] = turn;
  if (chat.name === NEW_NAME) chat.name = user.trim().replace(/\s+/g, " ").slice(0, 60) || NEW_NAME;
  choose(chat, turn.id);
  return turn;
}

export function isRunning(turn) {
  return turn.status === "in_progress";
}
