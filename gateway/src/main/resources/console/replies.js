// Replies from the gateway's /v1/responses. They are generated in the background, so they continue without this page.
// After a broken stream the page resumes after the last event that it received, even when it is loaded again.
import { api, apiJson, ApiError } from "/console/base.js";
import { children, newKey, sentText } from "/console/chats.js";

const FIRST_PAUSE = 500;
const LAST_PAUSE = 8000;

/** The events of a body of server-sent events. */
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      const data = part.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5)).join("\n").trim();
      if (data && data !== "[DONE]") yield JSON.parse(data);
    }
  }
}

/** What the user sent in a turn, as items of a response's input. */
function sent(turn) {
  const results = (turn.outputs ?? []).map(({ call_id, output }) => ({ type: "function_call_output", call_id, output }));
  const text = sentText(turn);
  return text ? [...results, { role: "user", content: text }] : results;
}

/** A turn's reply, as items of a response's input. */
function said(turn) {
  const message = turn.reply ? [{ role: "assistant", content: turn.reply }] : [];
  return [...message, ...(turn.calls ?? []).map((call) => ({ type: "function_call", ...call }))];
}

/** All that was said before a turn, for a server that does not have it: another one, or it was edited here. */
function history(chat, turn) {
  const before = [];
  for (let id = turn.parent; id !== null; id = chat.turns[id].parent) before.unshift(...sent(chat.turns[id]), ...said(chat.turns[id]));
  return before;
}

/** The id of the server's conversation that ends with a turn, if its end is where this turn goes. */
function ending(chat, turn) {
  const parent = chat.turns[turn.parent];
  return parent?.tail && children(chat, parent.id)[0] === turn ? parent.tail : null;
}

function follows(chat, turn) {
  return !turn.whole && turn.parent !== null && chat.turns[turn.parent].response;
}

function request(chat, turn) {
  const { temperature, topP, minP, seed, stop, maxTokens, effort, schema, tools, system } = turn.settings;
  const body = { input: sent(turn), stream: true, background: true };
  if (follows(chat, turn)) body.previous_response_id = chat.turns[turn.parent].response;
  else body.conversation = turn.conversation;
  if (!follows(chat, turn) && !ending(chat, turn)) body.input = [...history(chat, turn), ...body.input];
  if (turn.begun) {
    body.input.push({ role: "assistant", content: turn.begun });
    body.continue_final_message = true;
  }
  const given = {
    instructions: system, temperature, top_p: topP, min_p: minP, seed, stop, max_output_tokens: maxTokens, tools,
    reasoning: effort && { effort },
    text: schema && { format: { type: "json_schema", name: "reply", schema, strict: true } },
  };
  for (const [name, value] of Object.entries(given)) {
    if (value !== null && value !== undefined && value !== "") body[name] = value;
  }
  return body;
}

/** Takes an event; returns whether it is the last one. */
function take(turn, event) {
  if (event.type === "error") throw new ApiError(0, event.message ?? "The stream broke.");
  turn.sequence = event.sequence_number;
  if (event.delta) turn.first ??= Date.now();
  switch (event.type) {
    case "response.created":
      turn.response = event.response.id;
      return false;
    case "response.output_text.delta":
      turn.reply += event.delta;
      return false;
    case "response.reasoning_text.delta":
      turn.reasoning = (turn.reasoning ?? "") + event.delta;
      return false;
    case "response.output_item.done": {
      const { type, call_id, name, arguments: given } = event.item;
      if (type === "function_call") turn.calls = [...(turn.calls ?? []), { call_id, name, arguments: given }];
      return false;
    }
    case "response.output_text.done":
      turn.reply = (turn.begun ?? "") + event.text;
      return false;
    case "response.completed": case "response.incomplete": case "response.failed":
      turn.status = event.response.status;
      turn.usage = event.response.usage;
      turn.error = event.response.error?.message;
      turn.ended = Date.now();
      return true;
    default:
      return false;
  }
}

async function open(chat, turn, changed, signal) {
  if (turn.response) {
    // the times of a reply that this page did not follow from its beginning say nothing
    turn.resumed = true;
    return api(`/v1/responses/${turn.response}?stream=true&starting_after=${turn.sequence}`, { signal });
  }
  if (!follows(chat, turn) && !turn.conversation) {
    turn.conversation = ending(chat, turn) ?? (await apiJson("/v1/conversations", { method: "POST", body: {}, signal })).id;
    if (!chat.roots.includes(turn.conversation)) chat.roots.push(turn.conversation);
    changed();
  }
  // sent again with the same key, the request does not begin a second reply
  return api("/v1/responses", { method: "POST", body: request(chat, turn), headers: { "Idempotency-Key": turn.key }, signal });
}

function isFinal(error) {
  return error.status >= 400 && error.status < 500 && error.status !== 408;
}

/** Waits; a browser that is online again, and a stop, end the wait. */
function pause(millis, signal) {
  return new Promise((resolve) => {
    const over = () => { clearTimeout(timer); removeEventListener("online", over); resolve(); };
    const timer = setTimeout(over, millis);
    addEventListener("online", over);
    signal.addEventListener("abort", over);
  });
}

/**
 * Follows a turn's reply to its end, whatever breaks in between. The turn holds all that was seen.
 * changed: called after each change of the turn; waiting: with an error while the stream is broken, and then with null
 */
export async function follow(chat, turn, signal, changed, waiting) {
  let next = FIRST_PAUSE;
  while (!signal.aborted) {
    try {
      const response = await open(chat, turn, changed, signal);
      waiting(null);
      for await (const event of events(response)) {
        next = FIRST_PAUSE;
        const last = take(turn, event);
        changed();
        if (last) return;
      }
      throw new ApiError(0, "The stream ended early.");
    } catch (error) {
      if (signal.aborted) return;
      if (error.code === "previous_response_not_found" && !turn.whole) {
        // the server does not have the earlier turns (any more): send them all
        turn.whole = true;
        turn.key = newKey();
        continue;
      }
      if (error instanceof ApiError && isFinal(error)) {
        turn.status = "failed";
        turn.error = error.status === 404 && turn.response ? "The gateway no longer has this reply." : error.message;
        turn.keyless = error.status === 401;
        changed();
        return;
      }
      waiting(error);
      await pause(Math.max(next, (error.retryAfter ?? 0) * 1000), signal);
      next = Math.min(LAST_PAUSE, next * 2);
    }
  }
}

/** Has the job end a reply early; its stream ends then. */
export function cancel(turn) {
  return api(`/v1/responses/${turn.response}/cancel`, { method: "POST", body: {} });
}

/** Deletes turns at the server, the last ones first; it may no longer have them. */
export async function deleteTurns(turns) {
  for (const turn of turns.filter((each) => each.response)) {
    try {
      await api(`/v1/responses/${turn.response}`, { method: "DELETE" });
    } catch (error) {
      if (error.status !== 404) throw error;
    }
  }
}

/** Erases a conversation at the server: all its branches, for good. */
export async function erase(chat) {
  for (const root of chat.roots) {
    try {
      await api(`/v1/conversations/${root}`, { method: "DELETE" });
    } catch (error) {
      if (error.status !== 404) throw error;
    }
  }
}
