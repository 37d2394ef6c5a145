// OpenAI's client for Node against two gateways: node openai_client.cjs URL OTHER_URL. Every function of tests is a test.

const assert = require('node:assert/strict');
const OpenAI = require('openai');

const [url, otherUrl] = process.argv.slice(2);
const settings = { apiKey: 'none', maxRetries: 0, timeout: 120000 };
const client = new OpenAI({ baseURL: `${url}/v1`, ...settings });
const other = new OpenAI({ baseURL: `${otherUrl}/v1`, ...settings });
let model;

const create = (given) => client.responses.create({ model, max_output_tokens: 20, temperature: 0, ...given });

const chat = (given) => ({
  model,
  messages: [{ role: 'user', content: 'Hello' }],
  max_completion_tokens: 20,
  temperature: 0,
  ...given,
});

async function all(stream) {
  const events = [];
  for await (const event of await stream) events.push(event);
  return events;
}

const textOf = (events) =>
  events
    .filter((event) => event.type === 'response.output_text.delta')
    .map((event) => event.delta)
    .join('');

async function refused(type, call) {
  try {
    await call();
  } catch (error) {
    assert.ok(error instanceof type, `${error}`);
    return error;
  }
  return assert.fail(`expected ${type.name}`);
}

const tests = {
  async aChatStreamsTheTextThatItHasAsAWhole() {
    const whole = await client.chat.completions.create(chat());
    const runner = client.chat.completions.stream(chat({ stream_options: { include_usage: true } }));
    let text = '';
    runner.on('content', (piece) => (text += piece));
    const final = await runner.finalChatCompletion();
    assert.ok(text);
    assert.equal(text, whole.choices[0].message.content);
    assert.equal(text, final.choices[0].message.content);
    assert.equal((await runner.totalUsage()).completion_tokens, whole.usage.completion_tokens);
  },

  async aChatCallsToolsInParallel() {
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const tools = [{ type: 'function', function: { name: 'clock', parameters } }];
    const content = 'call clock {"city": "Ulm"}\ncall clock {"city": "Rome"}';
    const messages = [{ role: 'user', content }];
    const ask = chat({ tools, messages, max_completion_tokens: 200 });
    const { message, finish_reason } = (await client.chat.completions.create(ask)).choices[0];
    assert.equal(finish_reason, 'tool_calls');
    assert.equal(message.content, null);
    assert.deepEqual(
      message.tool_calls.map((call) => JSON.parse(call.function.arguments).city),
      ['Ulm', 'Rome'],
    );
    const streamed = (await client.chat.completions.stream(ask).finalChatCompletion()).choices[0].message;
    assert.deepEqual(
      streamed.tool_calls.map((call) => call.function),
      message.tool_calls.map((call) => call.function),
    );
    const results = message.tool_calls.map((call, i) => ({
      role: 'tool', tool_call_id: call.id, content: `${i} o'clock`,
    }));
    const answer = await client.chat.completions.create({ ...ask, messages: [...messages, message, ...results] });
    assert.equal(answer.choices[0].message.content, "It is 1 o'clock.");
    assert.ok(answer.usage.prompt_tokens_details.cached_tokens > 0);
  },

  async aChatHasSeveralChoices() {
    const { choices } = await client.chat.completions.create(chat({ n: 2, temperature: 1, seed: 7 }));
    assert.deepEqual(choices.map((choice) => choice.index), [0, 1]);
  },

  async aResponseCallsTools() {
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const tools = [{ type: 'function', name: 'clock', strict: false, parameters }];
    const ask = { tools, max_output_tokens: 200 };
    const stream = client.responses.stream({
      model, temperature: 0, input: 'call clock {"city": "Ulm"}\ncall clock {"city": "Rome"}', ...ask,
    });
    const response = await stream.finalResponse();
    assert.deepEqual(response.output.map((item) => item.type), ['function_call', 'function_call']);
    assert.equal(JSON.parse(response.output[1].arguments).city, 'Rome');
    const input = response.output.map((item, i) => ({
      type: 'function_call_output', call_id: item.call_id, output: `${i} o'clock`,
    }));
    const answer = await create({ input, previous_response_id: response.id, ...ask });
    assert.equal(answer.output_text, "It is 1 o'clock.");
    assert.ok(answer.usage.input_tokens_details.cached_tokens > 0);
  },

  async aStreamThatIsAbortedLeavesTheGatewayServing() {
    const stream = await client.chat.completions.create(chat({ stream: true, max_completion_tokens: 2000 }));
    for await (const piece of stream) {
      assert.equal(piece.object, 'chat.completion.chunk');
      break; // aborts the request
    }
    assert.ok((await client.chat.completions.create(chat())).choices[0].message.content);
  },

  async aResponseFollowsAnotherTheMomentItIsComplete() {
    let previous = null;
    for (let turn = 0; turn < 3; turn++) {
      const stream = client.responses.stream({
        model, max_output_tokens: 20, temperature: 0, input: `Turn ${turn}`, previous_response_id: previous,
      });
      const response = await stream.finalResponse();
      assert.equal(response.previous_response_id, previous);
      assert.ok(response.output_text);
      if (previous) assert.ok(response.usage.input_tokens_details.cached_tokens > 0);
      previous = response.id;
    }
    const items = await client.responses.inputItems.list(previous);
    assert.equal(items.data[0].content[0].text, 'Turn 2');
    await client.responses.delete(previous);
    await refused(OpenAI.NotFoundError, () => client.responses.retrieve(previous));
  },

  async aStreamThatBreaksGoesOnAtAnotherGateway() {
    const stream = await create({ input: 'Tell a story', background: true, stream: true, max_output_tokens: 300 });
    const seen = [];
    for await (const event of stream) {
      seen.push(event);
      if (seen.length === 7) break; // aborts the request
    }
    const id = seen[0].response.id;
    const after = seen.at(-1).sequence_number;
    const rest = await all(other.responses.retrieve(id, { stream: true, starting_after: after }));
    const whole = textOf([...seen, ...rest]);
    assert.equal(whole, (await client.responses.retrieve(id)).output_text);
    const numbers = [...seen, ...rest].map((event) => event.sequence_number);
    numbers.slice(1).forEach((number, i) => assert.ok(number > numbers[i], `${numbers}`));
  },

  async aResponseInTheBackgroundIsPolledAndCancelled() {
    const polled = await create({ input: 'Hello', background: true });
    const events = await all(other.responses.retrieve(polled.id, { stream: true }));
    assert.equal((await client.responses.retrieve(polled.id)).output_text, textOf(events));
    const long = await create({ input: 'Count', background: true, max_output_tokens: 2000 });
    const cancelled = await other.responses.cancel(long.id);
    // the reply may have ended by itself before the cancel came
    assert.ok(['cancelled', 'completed', 'incomplete'].includes(cancelled.status), cancelled.status);
    assert.equal((await client.responses.retrieve(long.id)).status, cancelled.status);
  },

  async aConversationHasItsItems() {
    const conversation = await client.conversations.create({
      metadata: { topic: 'demo' },
      items: [{ type: 'message', role: 'user', content: 'My name is Ada.' }],
    });
    assert.deepEqual((await client.conversations.retrieve(conversation.id)).metadata, { topic: 'demo' });
    const response = await create({ input: 'What is my name?', conversation: conversation.id });
    const texts = [];
    for await (const item of client.conversations.items.list(conversation.id, { order: 'asc', limit: 1 })) {
      texts.push(item.content[0].text);
    }
    assert.deepEqual(texts, ['My name is Ada.', 'What is my name?', response.output_text]);
    assert.ok((await client.conversations.delete(conversation.id)).deleted);
    await refused(OpenAI.NotFoundError, () => client.conversations.retrieve(conversation.id));
  },

  async aRequestThatIsSentAgainHasTheSameReply() {
    const key = { headers: { 'Idempotency-Key': `key-${process.hrtime.bigint()}` } };
    const first = await client.chat.completions.create(chat({ temperature: 1 }), key);
    const again = await other.chat.completions.create(chat({ temperature: 1 }), key);
    assert.equal(again.choices[0].message.content, first.choices[0].message.content);
    assert.equal(again.id, first.id);
  },

  async whatIsWrongIsNamed() {
    const tool = { type: 'web_search' };
    const refusedTool = await refused(OpenAI.BadRequestError, () =>
      client.chat.completions.create(chat({ tools: [tool] })),
    );
    assert.equal(refusedTool.param, 'tools');
    const refusedByResponses = await refused(OpenAI.BadRequestError, () =>
      create({ input: 'x', tools: [{ type: 'web_search' }] }),
    );
    assert.equal(refusedByResponses.param, 'tools');
    const follows = await refused(OpenAI.BadRequestError, () => create({ input: 'x', previous_response_id: 'resp_x' }));
    assert.equal(follows.code, 'previous_response_not_found');
    await refused(OpenAI.NotFoundError, () => client.responses.retrieve('resp_nothing'));
    const served = (await client.models.list()).data[0].id;
    assert.equal((await client.chat.completions.create(chat({ model: 'other' }))).model, served);
    await refused(OpenAI.BadRequestError, () => client.chat.completions.create(chat({ temperature: 9 })));
  },
};

async function main() {
  model = (await client.models.list()).data[0].id;
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    try {
      await test();
      console.log('passed', name);
    } catch (error) {
      failed++;
      console.log('FAILED', name, error);
    }
  }
  process.exit(failed ? 1 : 0);
}

main().catch((error) => {
  console.log(error);
  process.exit(1);
});
