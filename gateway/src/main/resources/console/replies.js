// Replies from the gateway's /v1/responses. A reply is made in the background, so that it goes on without this page;
// a stream that breaks is resumed after the last event that was seen, by this page or by the same page loaded again.
import { api, apiJson, ApiError } from "/console/base.js";

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

function request(chat, turn) {
  const { temperature, maxTokens, system } = turn.settings;
  const body = { input: turn.user, stream: true, background: true };
  if (turn.parent === null) body.conversation = turn.conversation;
  else body.previous_response_id = chat.turns[turn.parent].response;
  if (system) body.instructions = system;
  if (temperature !== null && temperature !== undefined) body.temperature = temperature;
  if (maxTokens) body.max_output_tokens = maxTokens;
  return body;
}

/** Takes an event; returns whether it is the last one. */
function take(turn, event) {
  if (event.type === "error") throw new ApiError(0, event.message ?? "The stream broke.");
  turn.sequence = event.sequence_number;
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
    case "response.function_call_arguments.done":
      turn.calls = [...(turn.calls ?? []), { name: event.name, arguments: event.arguments }];
      return false;
    case "response.output_text.done":
      turn.reply = event.text;
      return false;
    case "response.completed": case "response.incomplete": case "response.failed":
      turn.status = event.response.status;
      turn.usage = event.response.usage;
      turn.error = event.response.error?.message;
      return true;
    default:
      return false;
  }
}

async function open(chat, turn, changed, signal) {
  if (turn.response) {
    return api(`/v1/responses/${turn.response}?stream=true&starting_after=${turn.sequence}`, { signal });
  }
  if (turn.parent === null && !turn.conversation) {
    turn.conversation = (await apiJson("/v1/conversations", { method: "POST", body: {}, signal })).id;
    chat.roots.push(turn.conversation);
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
