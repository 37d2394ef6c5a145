// The conversations that the server lists, such as the conversations of another browser. A gateway may have no list.
import { apiJson } from "/console/base.js";
import * as chats from "/console/chats.js";

let listed = [];
let last = null;
let wanted = "";
let asked = 0;
/** Erased conversations; the server lists them until its next checkpoint. */
const erased = new Set();

/**
 * Asks for the conversations whose title or id has a text, the latest first; resolves to whether the list is new.
 *
 * @param more whether to ask for the next page instead
 */
export async function ask(text, more = false) {
  const number = ++asked;
  const query = new URLSearchParams({ limit: "100" });
  if (text) query.set("search", text);
  if (more && last) query.set("after", last);
  let page = { data: [], has_more: false };
  try {
    page = await apiJson(`/v1/conversations?${query}`);
  } catch { /* the browser's own conversations remain */ }
  if (number !== asked) return false;
  const found = page.data.map(({ id, title, updated_at: at }) => ({ id, name: title || chats.NEW_NAME, at: at * 1000 }));
  listed = more ? [...listed, ...found] : found;
  last = page.has_more ? page.last_id : null;
  wanted = text;
  return true;
}

export function hasMore() {
  return last !== null;
}

/** The listed conversations that have a text and that this browser does not keep. */
export function others(text) {
  const kept = new Set(chats.list().flatMap((entry) => [entry.id, ...(entry.roots ?? [])]));
  const has = (entry) => text === wanted || `${entry.name} ${entry.id}`.toLowerCase().includes(text.toLowerCase());
  return listed.filter((entry) => !kept.has(entry.id) && !erased.has(entry.id) && has(entry));
}

/** Leaves out a conversation that was erased. */
export function forget(chat) {
  chat.roots.forEach((root) => erased.add(root));
}
