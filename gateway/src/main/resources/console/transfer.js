// Conversations that leave the browser and come into it: as files, or from the server by their id.
import { apiJson, ApiError } from "/console/base.js";
import * as chats from "/console/chats.js";

const FORMAT = "radixflow-conversations";
const MOST_TURNS = 10_000;

function download(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function fileName(name, extension) {
  const plain = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60);
  return `${plain || "conversation"}.${extension}`;
}

/** Saves conversations as a file with a name, with all branches; `importFile` reads it. */
export function exportChats(some, name) {
  download(fileName(name, "json"), "application/json", JSON.stringify({ format: FORMAT, version: 1, conversations: some }, null, 1));
}

/** Saves the branch that is shown as Markdown. */
export function exportMarkdown(chat) {
  const turns = chats.path(chat).map((turn) => {
    const results = (turn.outputs ?? []).map((each) => `Result of ${each.name}:\n\n\`\`\`\n${each.output}\n\`\`\`\n\n`).join("");
    const calls = (turn.calls ?? []).map((call) => `\n\nCall of ${call.name}:\n\n\`\`\`json\n${call.arguments}\n\`\`\``).join("");
    return `## You\n\n${results}${chats.sentText(turn)}\n\n## Reply\n\n${turn.reply}${calls}\n`;
  });
  download(fileName(chat.name, "md"), "text/markdown", `# ${chat.name}\n\n${turns.join("\n")}`);
}

const text = (value) => (typeof value === "string" ? value : "");
const object = (value) => (value !== null && typeof value === "object" && !Array.isArray(value) ? value : {});
const listOf = (value, read) => (Array.isArray(value) ? value.map((each) => read(object(each))) : undefined);

/** Reads a turn of a file: known fields alone, each of its type. */
function turnOf(given, id, ids) {
  const turn = object(given);
  const link = (value) => (ids.has(value) ? value : null);
  return {
    id, number: Number(turn.number) || 0, parent: link(turn.parent), chosen: link(turn.chosen),
    user: text(turn.user), reply: text(turn.reply), reasoning: text(turn.reasoning) || undefined,
    files: listOf(turn.files, (file) => ({ name: text(file.name), text: text(file.text) })),
    calls: listOf(turn.calls, (call) => ({ call_id: text(call.call_id), name: text(call.name), arguments: text(call.arguments) })),
    outputs: listOf(turn.outputs, (each) => ({ call_id: text(each.call_id), name: text(each.name), output: text(each.output) })),
    status: turn.status === "in_progress" || !text(turn.status) ? "incomplete" : turn.status,
    response: text(turn.response) || null, sequence: -1, key: chats.newKey(), settings: object(turn.settings),
  };
}

/** Whether each turn leads to a first one: a circle would be followed for ever. */
function isTree(turns) {
  return Object.values(turns).every((turn) => {
    let steps = 0;
    for (let id = turn.parent; id !== null; id = turns[id].parent) if (++steps > MOST_TURNS) return false;
    return true;
  });
}

function chatOf(given) {
  const entries = Object.entries(object(given.turns));
  const ids = new Set(entries.map(([id]) => id));
  const turns = Object.fromEntries(entries.map(([id, turn]) => [id, turnOf(turn, id, ids)]));
  if (entries.length > MOST_TURNS || !isTree(turns)) throw new Error("The file has a conversation that is not a tree of turns.");
  const chat = chats.create(object(given.settings));
  // what the server has of it is not erased with the copy
  return { ...chat, name: text(given.name).slice(0, 80) || chats.NEW_NAME, turns, chosen: ids.has(given.chosen) ? given.chosen : null };
}

/** Reads a file of conversations; throws an error whose message can be shown. */
export async function importFile(file) {
  let given;
  try {
    given = JSON.parse(await file.text());
  } catch {
    throw new Error(`${file.name} is not JSON.`);
  }
  if (given?.format !== FORMAT || !Array.isArray(given.conversations)) {
    throw new Error(`${file.name} has no conversations: choose a file that was exported here.`);
  }
  return given.conversations.map((each) => chatOf(object(each)));
}

/** The items of a conversation at the server, the oldest first. */
async function items(id) {
  const all = [];
  for (let after = ""; ;) {
    const page = await apiJson(`/v1/conversations/${encodeURIComponent(id)}/items?order=asc&limit=100${after}`);
    all.push(...page.data);
    if (!page.has_more || all.length > MOST_TURNS) return all;
    after = `&after=${encodeURIComponent(page.last_id)}`;
  }
}

const joined = (parts) => (typeof parts === "string" ? parts : (parts ?? []).map((part) => part.text ?? "").join(""));

/** Makes a conversation of one that the server has, with its id; new turns go on in it there. */
export async function fromServer(id) {
  let found;
  try {
    found = await items(id);
  } catch (error) {
    throw error instanceof ApiError && error.status === 404 ? new Error("The server has no conversation with this id.") : error;
  }
  const chat = chats.create({}, id);
  let turn = null;
  const next = (user, more) => { turn = chats.add(chat, turn?.id ?? null, user, { status: "completed", ...more }); };
  for (const item of found) {
    if (item.type === "message" && item.role === "system") chat.settings.system = joined(item.content);
    else if (item.type === "message" && item.role === "user") next(joined(item.content));
    else if (item.type === "function_call_output") next("", { outputs: [{ call_id: item.call_id, name: "a tool", output: joined(item.output) }] });
    else {
      if (!turn) next("");
      if (item.type === "message") turn.reply += joined(item.content);
      else if (item.type === "reasoning") turn.reasoning = (turn.reasoning ?? "") + joined(item.content);
      else if (item.type === "function_call") turn.calls = [...(turn.calls ?? []), { call_id: item.call_id, name: item.name, arguments: item.arguments }];
    }
  }
  if (!turn) throw new Error("The conversation has no messages.");
  turn.tail = id;
  chat.roots.push(id);
  return chat;
}
