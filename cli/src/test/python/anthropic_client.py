"""Anthropic's client against a gateway: python anthropic_client.py BASE_URL. Every function named test_... is a test."""

import json
import sys
import traceback

import anthropic
import httpx2 as httpx
import published

base = sys.argv[1]
client = anthropic.Anthropic(base_url=base, api_key="none", max_retries=0, timeout=120, http_client=published.client())
model = httpx.get(base + "/v1/models").json()["data"][0]["id"]


def ask(*messages, **given):
    given = dict(dict(system="Be brief.", max_tokens=20, extra_body={"temperature": 0}), **given)
    return dict(
        model=model,
        messages=[{"role": ("user", "assistant")[i % 2], "content": m} for i, m in enumerate(messages)],
        **given,
    )


def raises(error, call):
    try:
        call()
    except error as e:
        return e
    raise AssertionError(f"expected {error.__name__}")


def test_a_message_streams_the_text_that_it_has_as_a_whole():
    whole = client.messages.create(**ask("Hello"))
    assert [event.type for event in client.messages.create(stream=True, **ask("Hello"))][-1] == "message_stop"
    assert whole.content[0].text and whole.stop_reason in ("end_turn", "max_tokens")
    with client.messages.stream(**ask("Hello")) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text == whole.content[0].text == final.content[0].text
    assert final.usage.output_tokens == whole.usage.output_tokens > 0
    assert final.usage.input_tokens + final.usage.cache_read_input_tokens > 0


def test_the_stop_sequence_that_ended_a_message_is_named():
    replies = {word: client.messages.create(**ask(word)).content[0].text for word in ("Stop here", "Stop", "Halt")}
    word, text = max(replies.items(), key=lambda reply: len(reply[1]))
    stop = text[8:12]
    message = client.messages.create(**ask(word, stop_sequences=["never said", stop]))
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", stop)
    assert message.content[0].text == text[: text.index(stop)]


def test_a_conversation_that_goes_on_finds_its_prefix_in_the_cache():
    first = client.messages.create(**ask("Tell me a long story about the sea and the shore"))
    second = client.messages.create(
        **ask("Tell me a long story about the sea and the shore", first.content[0].text, "And then?")
    )
    assert second.usage.cache_read_input_tokens > 0


def test_what_changes_with_each_request_is_no_part_of_the_prompt():
    sizes = set()
    for number in (1, 22, 333):
        billing = {"type": "text", "text": f"x-anthropic-billing-header: cch={number};"}
        prompt = {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
        usage = client.messages.create(**ask("Hello", system=[billing, prompt])).usage
        sizes.add(usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens)
    assert len(sizes) == 1


CITIES = ("Ulm", "Rome")
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CLOCK = {"name": "clock", "description": "time", "input_schema": SCHEMA}
CALLS = "\n".join(f'call clock {{"city": "{city}"}}' for city in CITIES)


def test_tools_are_called_in_parallel_for_several_rounds():
    for stream in (False, True):
        messages, ids, cached = [], set(), 0
        for round in range(3):
            messages.append({"role": "user", "content": CALLS})
            given = dict(model=model, system=f"Look at clocks: {stream}.", max_tokens=200, tools=[CLOCK])
            given["extra_body"] = {"temperature": 0}
            if stream:
                with client.messages.stream(messages=messages, **given) as events:
                    message = events.get_final_message()
            else:
                message = client.messages.create(messages=messages, **given)
            assert message.stop_reason == "tool_use"
            assert [(block.type, block.input["city"]) for block in message.content] == [("tool_use", c) for c in CITIES]
            ids |= {block.id for block in message.content}
            messages.append({"role": "assistant", "content": [block.model_dump() for block in message.content]})
            results = [
                {"type": "tool_result", "tool_use_id": block.id, "content": f"{number} o'clock"}
                for number, block in enumerate(message.content)
            ]
            messages.append({"role": "user", "content": results})
            answer = client.messages.create(messages=messages, **given)
            assert answer.content[0].text == "It is 1 o'clock."
            assert answer.usage.cache_read_input_tokens > cached
            cached = answer.usage.cache_read_input_tokens
            messages.append({"role": "assistant", "content": answer.content})
        assert len(ids) == 6
        counted = client.messages.count_tokens(
            model=model, system=given["system"], messages=messages[:3], tools=[CLOCK]
        ).input_tokens
        assert counted > client.messages.count_tokens(
            model=model, system=given["system"], messages=messages[:3]
        ).input_tokens


def test_a_message_is_held_to_a_schema():
    schema = {
        "type": "object",
        "properties": {"city": {"enum": ["Ulm", "Rome"]}},
        "required": ["city"],
        "additionalProperties": False,
    }
    given = dict(max_tokens=200, output_config={"format": {"type": "json_schema", "schema": schema}})
    message = client.messages.create(**ask("A city?", **given))
    assert message.stop_reason == "end_turn"
    assert json.loads(message.content[0].text)["city"] in ("Ulm", "Rome")


def test_tokens_are_counted():
    usage = client.messages.create(**ask("Hello")).usage
    counted = client.messages.count_tokens(
        model=model, system="Be brief.", messages=[{"role": "user", "content": "Hello"}]
    )
    assert counted.input_tokens == usage.input_tokens + usage.cache_read_input_tokens
    assert httpx.head(base + "/").status_code == 200


def test_what_is_wrong_is_named():
    search = {"type": "web_search_20250305", "name": "web_search"}
    error = raises(anthropic.BadRequestError, lambda: client.messages.create(**ask("a", tools=[search])))
    assert "web_search_20250305" in error.message
    assert client.messages.create(**ask("a", "b")).content[0].text, "the reply continues the last message"
    assert client.messages.create(**dict(ask("a"), model="claude-haiku-4-5")).model == model


failed = []
for name, test in list(globals().items()):
    if name.startswith("test_"):
        try:
            test()
            print("passed", name, flush=True)
        except Exception:
            failed.append(name)
            print("FAILED", name, traceback.format_exc(), flush=True)
sys.exit(0 if published.report() and not failed else 1)
