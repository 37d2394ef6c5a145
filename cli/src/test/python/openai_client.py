"""OpenAI's client against two gateways: python openai_client.py URL OTHER_URL. Every function named test_... is a test."""

import json
import sys
import traceback
from typing import Annotated, Literal

import openai
import published
import pydantic

def connect(url):
    return openai.OpenAI(
        base_url=url + "/v1", api_key="none", max_retries=0, timeout=120, http_client=published.client()
    )


client, other = connect(sys.argv[1]), connect(sys.argv[2])
model = client.models.list().data[0].id


def create(**given):
    return client.responses.create(model=model, max_output_tokens=20, temperature=0, **given)



def raises(error, call):
    try:
        call()
    except error as e:
        return e
    raise AssertionError(f"expected {error.__name__}")


def test_a_chat_streams_the_text_that_it_has_as_a_whole():
    ask = dict(model=model, messages=[{"role": "user", "content": "Hello"}], max_tokens=20, temperature=0)
    whole = client.chat.completions.create(**ask)
    pieces = client.chat.completions.create(stream=True, stream_options={"include_usage": True}, **ask)
    text, usage = "", None
    for piece in pieces:
        text += "".join(choice.delta.content or "" for choice in piece.choices)
        usage = piece.usage or usage
    assert text == whole.choices[0].message.content != ""
    assert usage.completion_tokens == whole.usage.completion_tokens > 0


def test_the_stop_text_that_ended_a_chat_is_named():
    ask = dict(model=model, messages=[{"role": "user", "content": "Stop"}], max_tokens=20, temperature=0)
    text = client.chat.completions.create(**ask).choices[0].message.content
    choice = client.chat.completions.create(stop=["never said", text[8:12]], **ask).choices[0]
    assert (choice.finish_reason, choice.model_extra["stop_reason"]) == ("stop", text[8:12])
    assert choice.message.content == text[: text.index(text[8:12])]


CITIES = ("Ulm", "Rome")
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CALLS = "\n".join(f'call clock {{"city": "{city}"}}' for city in CITIES)


def joined(pieces):
    """The message that the pieces of a streamed chat make."""
    content, calls, finish = "", [], None
    for choice in (choice for piece in pieces for choice in piece.choices):
        content += choice.delta.content or ""
        finish = choice.finish_reason or finish
        for call in choice.delta.tool_calls or []:
            if call.index == len(calls):
                calls.append({"id": call.id, "type": call.type, "function": {"name": call.function.name, "arguments": ""}})
            calls[call.index]["function"]["arguments"] += call.function.arguments or ""
    return content or None, calls, finish


def test_a_chat_calls_tools_in_parallel_for_several_rounds():
    tools = [{"type": "function", "function": {"name": "clock", "description": "time", "parameters": SCHEMA}}]
    for stream in (False, True):
        messages = [{"role": "system", "content": f"Look at clocks, streamed: {stream}."}]
        ids, cached = set(), 0
        for round in range(3):
            messages.append({"role": "user", "content": CALLS})
            ask = dict(model=model, messages=messages, tools=tools, max_tokens=200, temperature=0)
            if stream:
                content, calls, finish = joined(client.chat.completions.create(stream=True, **ask))
            else:
                choice = client.chat.completions.create(**ask).choices[0]
                content, finish = choice.message.content, choice.finish_reason
                calls = [call.model_dump() for call in choice.message.tool_calls]
            assert (content, finish) == (None, "tool_calls")
            assert [json.loads(call["function"]["arguments"])["city"] for call in calls] == list(CITIES)
            ids |= {call["id"] for call in calls}
            messages.append({"role": "assistant", "content": content, "tool_calls": calls})
            for number, call in enumerate(calls):
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": f"{number} o'clock"})
            answer = client.chat.completions.create(**dict(ask, messages=messages))
            assert answer.choices[0].message.content == "It is 1 o'clock."
            assert answer.usage.prompt_tokens_details.cached_tokens > cached
            cached = answer.usage.prompt_tokens_details.cached_tokens
            messages.append({"role": "assistant", "content": answer.choices[0].message.content})
        assert len(ids) == 6


def test_what_a_chat_does_not_serve_is_named():
    tool = {"type": "web_search"}
    for given, name in ((dict(tools=[tool]), "tools"), (dict(functions=[{"name": "f"}]), "functions")):
        ask = lambda: client.chat.completions.create(model=model, messages=[{"role": "user", "content": "x"}], **given)
        assert name in raises(openai.BadRequestError, ask).message


def test_choices_and_log_probabilities_of_chats_and_prompts():
    ask = dict(model=model, max_tokens=8, n=2, seed=7)
    for given in (dict(), dict(stream=True, stream_options={"include_usage": True})):
        messages = [{"role": "user", "content": "Hello"}]
        chat = client.chat.completions.create(messages=messages, logprobs=True, top_logprobs=2, **ask, **given)
        prompt = client.completions.create(prompt=["Hello", "Good day"], logprobs=2, **ask, **given)
        chats, prompts = ([chat], [prompt]) if not given else (list(chat), list(prompt))
        assert {choice.index for piece in chats for choice in piece.choices} == {0, 1}
        assert {choice.index for piece in prompts for choice in piece.choices} == {0, 1, 2, 3}
        assert any(choice.logprobs for piece in chats + prompts for choice in piece.choices)
    assert client.models.retrieve(model).id == model


def test_a_response_is_kept_and_can_be_read():
    response = create(input="Hello", instructions="Be brief.", metadata={"k": "v"})
    assert response.status in ("completed", "incomplete")
    assert response.output_text
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens
    assert (response.completed_at is None) == (response.status != "completed")
    again = client.responses.retrieve(response.id)
    assert again.model_dump() == response.model_dump(), (again, response)
    items = client.responses.input_items.list(response.id).data
    assert [item.content[0].text for item in items] == ["Hello"]


def test_a_response_follows_another_the_moment_it_is_complete():
    previous = None
    for turn in range(3):
        stream = create(input=f"Turn {turn}", previous_response_id=previous, stream=True)
        for event in stream:
            if event.type in ("response.completed", "response.incomplete"):
                assert event.response.previous_response_id == previous
                if previous:
                    assert event.response.usage.input_tokens_details.cached_tokens > 0
                previous = event.response.id
                break
        stream.close()
    assert previous


def test_two_responses_follow_one():
    first = create(input="Hello")
    ids = {create(input=text, previous_response_id=first.id).id for text in ("a", "b")}
    assert len(ids) == 2
    for one in ids:
        assert client.responses.retrieve(one).previous_response_id == first.id


def test_instructions_do_not_carry_over():
    first = create(input="Hello", instructions="Be brief.")
    second = create(input="And now?", previous_response_id=first.id, instructions="Be kind.")
    third = create(input="And now?", previous_response_id=first.id)
    fourth = create(input="Again", previous_response_id=second.id, instructions="Be kind.")
    assert second.instructions == "Be kind." and third.instructions is None
    assert client.responses.retrieve(second.id).instructions == "Be kind."
    assert fourth.usage.input_tokens > second.usage.input_tokens > third.usage.input_tokens


def test_a_stream_is_resumed_after_any_event():
    events = list(create(input="Tell a story", stream=True))
    numbers = [event.sequence_number for event in events]
    assert numbers == sorted(set(numbers))
    response = events[-1].response
    text = lambda some: "".join(e.delta for e in some if e.type == "response.output_text.delta")
    assert text(events) == response.output_text != ""
    for seen in (0, 3, 4, len(events) // 2, len(events) - 2):
        rest = list(
            client.responses.retrieve(response.id, stream=True, starting_after=events[seen].sequence_number)
        )
        assert text(events[: seen + 1]) + text(rest) == text(events)
        assert rest[-1].model_dump() == events[-1].model_dump()


def test_a_stream_that_breaks_goes_on_at_another_gateway():
    stream = client.responses.create(
        model=model, input="Tell a story", background=True, stream=True, max_output_tokens=300, temperature=0
    )
    seen = [event for event, _ in zip(stream, range(7))]
    stream.close()
    rest = list(
        other.responses.retrieve(seen[0].response.id, stream=True, starting_after=seen[-1].sequence_number)
    )
    text = "".join(e.delta for e in seen + rest if e.type == "response.output_text.delta")
    assert text == rest[-1].response.output_text == client.responses.retrieve(seen[0].response.id).output_text
    numbers = [event.sequence_number for event in seen + rest]
    assert numbers == sorted(set(numbers))


def test_a_response_in_the_background_is_polled():
    response = create(input="Hello", background=True)
    assert response.background
    stream = client.responses.retrieve(response.id, stream=True)
    last = list(stream)[-1]
    done = client.responses.retrieve(response.id)
    assert done.status in ("completed", "incomplete")
    assert done.output_text == last.response.output_text


def test_a_response_in_the_background_is_cancelled():
    response = client.responses.create(model=model, input="Count", background=True, max_output_tokens=2000)
    cancelled = client.responses.cancel(response.id)
    # the reply may have ended by itself before the cancel came
    assert cancelled.status in ("cancelled", "completed", "incomplete"), cancelled.status
    assert client.responses.retrieve(response.id).status == cancelled.status


def test_a_deleted_response_is_gone():
    first = create(input="Hello")
    second = create(input="And?", previous_response_id=first.id)
    client.responses.delete(first.id)
    raises(openai.NotFoundError, lambda: client.responses.retrieve(first.id))
    raises(openai.BadRequestError, lambda: create(input="x", previous_response_id=first.id))
    assert client.responses.retrieve(second.id).output_text == second.output_text


def test_a_response_that_is_not_stored_cannot_be_read():
    response = create(input="Hello", store=False)
    assert response.output_text
    raises(openai.NotFoundError, lambda: client.responses.retrieve(response.id))


def test_a_conversation_has_its_items():
    conversation = client.conversations.create(
        metadata={"topic": "demo"}, items=[{"type": "message", "role": "user", "content": "My name is Ada."}]
    )
    assert client.conversations.retrieve(conversation.id).metadata == {"topic": "demo"}
    assert client.conversations.update(conversation.id, metadata={"topic": "x"}).metadata == {"topic": "x"}
    response = create(input="What is my name?", conversation=conversation.id)
    assert response.conversation.id == conversation.id
    items = list(client.conversations.items.list(conversation.id, order="asc", limit=1))
    texts = [item.content[0].text for item in items]
    assert texts == ["My name is Ada.", "What is my name?", response.output_text], texts
    assert items[-1].id == response.output[0].id
    added = client.conversations.items.create(
        conversation.id, items=[{"type": "message", "role": "user", "content": "More."}]
    )
    item = added.data[0].id
    assert client.conversations.items.retrieve(item, conversation_id=conversation.id).content[0].text == "More."
    client.conversations.items.delete(item, conversation_id=conversation.id)
    assert item not in [i.id for i in client.conversations.items.list(conversation.id)]
    assert client.conversations.delete(conversation.id).deleted
    raises(openai.NotFoundError, lambda: client.conversations.retrieve(conversation.id))
    raises(openai.NotFoundError, lambda: create(input="x", conversation=conversation.id))


def test_a_conversation_without_metadata_is_deleted():
    conversation = client.conversations.create()
    assert client.conversations.retrieve(conversation.id).metadata == {}
    assert client.conversations.delete(conversation.id).deleted
    raises(openai.NotFoundError, lambda: client.conversations.retrieve(conversation.id))


def test_log_probabilities_are_included():
    events = list(create(input="Hello", stream=True, include=["message.output_text.logprobs"], top_logprobs=2))
    tokens = [t for e in events if e.type == "response.output_text.delta" for t in e.logprobs]
    assert tokens and all(len(token.top_logprobs) == 2 for token in tokens)
    part = events[-1].response.output[0].content[0]
    assert [t.token for t in part.logprobs][: len(tokens)] == [t.token for t in tokens]


CLOCK = {"type": "function", "name": "clock", "description": "time", "parameters": SCHEMA, "strict": False}


def ask_clock(**given):
    ask = dict(model=model, max_output_tokens=200, temperature=0, tools=[CLOCK])
    return client.responses.create(**dict(ask, **given))


def results(response):
    calls = [item for item in response.output if item.type == "function_call"]
    assert [json.loads(call.arguments)["city"] for call in calls] == list(CITIES)
    return [
        {"type": "function_call_output", "call_id": call.call_id, "output": f"{number} o'clock"}
        for number, call in enumerate(calls)
    ]


def test_responses_call_tools_in_parallel_for_several_rounds():
    conversation = client.conversations.create().id
    for by_id in (True, False):
        given = lambda previous: dict(previous_response_id=previous) if by_id else dict(conversation=conversation)
        previous = None
        for round in range(3):
            response = ask_clock(input=CALLS, **given(previous))
            assert response.status == "completed"
            answer = ask_clock(input=results(response), **given(response.id))
            assert answer.output_text == "It is 1 o'clock."
            assert response.tools[0].name == "clock" and response.tools[0].parameters == SCHEMA
            assert answer.usage.input_tokens_details.cached_tokens > 0
            assert client.responses.retrieve(response.id).model_dump() == response.model_dump()
            previous = answer.id
    kinds = [item.type for item in client.conversations.items.list(conversation, order="asc", limit=6)]
    assert kinds[:6] == ["message"] + ["function_call"] * 2 + ["function_call_output"] * 2 + ["message"], kinds
    with_tools = client.responses.input_tokens.count(model=model, input=CALLS, tools=[CLOCK]).input_tokens
    assert with_tools > client.responses.input_tokens.count(model=model, input=CALLS).input_tokens


class City(pydantic.BaseModel):
    model_config = {"extra": "forbid"}
    name: Literal["Ulm", "Rome"]
    rivers: Annotated[list[Literal["Danube", "Tiber"]], pydantic.Field(max_length=2)]


def test_the_text_of_a_response_is_held_to_a_schema():
    response = client.responses.parse(model=model, input="A city?", text_format=City, max_output_tokens=400)
    assert response.status == "completed" and response.output_parsed.name in ("Ulm", "Rome")
    assert response.text.format.type == "json_schema"
    assert client.responses.retrieve(response.id).text == response.text
    free = create(input="A city?", text={"format": {"type": "json_object"}})
    assert free.text.format.type == "json_object" and free.output_text.startswith("{")


def test_the_older_names_of_grammars_hold_replies():
    ask = dict(model=model, messages=[{"role": "user", "content": "Yes?"}])
    chat = client.chat.completions.create(**ask, extra_body={"guided_choice": ["yes", "no"]})
    assert chat.choices[0].message.content in ("yes", "no")
    text = client.completions.create(model=model, prompt="Yes?", extra_body={"guided_regex": "(yes|no)!"})
    assert text.choices[0].text in ("yes!", "no!")


def test_a_client_that_sends_all_items_each_time_is_served():
    items = [{"role": "user", "content": CALLS}]
    response = ask_clock(input=items, store=False, prompt_cache_key="items")
    items += [item.model_dump() for item in response.output] + results(response)
    answer = ask_clock(input=items, store=False, prompt_cache_key="items")
    assert answer.output_text == "It is 1 o'clock."
    assert answer.usage.input_tokens_details.cached_tokens > 0


def test_a_stream_of_calls_is_resumed_after_any_event():
    events = list(ask_clock(input=CALLS, stream=True))
    deltas = lambda some: "".join(
        e.delta for e in some if e.type == "response.function_call_arguments.delta"
    )
    response = events[-1].response
    assert deltas(events) == "".join(item.arguments for item in response.output)
    for seen in range(0, len(events) - 1, 3):
        rest = list(
            other.responses.retrieve(response.id, stream=True, starting_after=events[seen].sequence_number)
        )
        assert deltas(events[: seen + 1]) + deltas(rest) == deltas(events)
        assert rest[-1].model_dump() == events[-1].model_dump()


def test_tokens_are_counted():
    response = create(input="Hello")
    assert client.responses.input_tokens.count(input="Hello").input_tokens == response.usage.input_tokens
    assert client.responses.input_tokens.count(
        input="More", previous_response_id=response.id
    ).input_tokens > response.usage.input_tokens


def test_what_is_wrong_is_named():
    tool = {"type": "web_search"}
    assert "web_search" in raises(openai.BadRequestError, lambda: create(input="x", tools=[tool])).message
    error = raises(openai.BadRequestError, lambda: create(input="x", previous_response_id="resp_x"))
    assert error.code == "previous_response_not_found"
    raises(openai.NotFoundError, lambda: client.responses.retrieve("resp_nothing"))
    raises(openai.NotFoundError, lambda: client.conversations.retrieve("conv_" + "0" * 32))
    raises(openai.BadRequestError, lambda: create(input=[]))
    assert client.responses.create(model="other", input="x", max_output_tokens=8).model == model


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
