package io.radixflow.protocol.event;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.topic.EventWriter;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class EventParserTest {

  private static final int MAX_BYTES = 1 << 20;
  private static final Origin ORIGIN = new Origin(3, 17L, 1_000L);
  private static final String TURN = "\"session\":\"s\",\"turn\":\"t\",";
  private static final String HELLO = "\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]";

  private final EventParser parser = new EventParser(MAX_BYTES);

  @Test
  void readsAMessageWithoutTypeOrOptions() {
    assertThat(event("{" + TURN + HELLO + "}"))
        .isEqualTo(
            ConversationEvent.builder(EventKind.MESSAGE, "s", "t")
                .messages(List.of(new Message("user", "hello")))
                .origin(ORIGIN)
                .build());
  }

  @Test
  void readsEveryGenerationOption() {
    String options =
        "\"temperature\":0.5,\"top_k\":40,\"top_p\":0.9,\"min_p\":0.05,\"repetition_penalty\":1.1,"
            + "\"presence_penalty\":-1,\"frequency_penalty\":2,\"logit_bias\":{\"7\":-100},"
            + "\"max_tokens\":12,\"stop\":[\"a\",\"b\"],\"seed\":-9,\"logprobs\":true,"
            + "\"top_logprobs\":3,\"ignore_eos\":true,\"n\":1,\"priority\":-7,\"tools\":["
            + " {\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"b\":1,"
            + " \"a\":2}}}],\"tool_choice\":"
            + "{\"function\":{\"name\":\"f\"},\"type\":\"function\"},\"parallel_tool_calls\":false,\"structured_outputs\":{\"choice\":"
            + " [\"a\"]},"
            + "\"prediction\":{\"type\":\"content\",\"content\":[{\"type\":\"text\",\"text\":\"a"
            + " \"},{\"type\":\"text\",\"text\":\"b\"}]},\"tool_parser\":\"hermes\",\"chat_template_kwargs\":{\"enable_thinking\":"
            + " false},"
            + "\"reasoning_effort\":\"low\",\"thinking_token_budget\":64,\"separate_reasoning\":false,"
            + "\"continue_final_message\":true,\"add_generation_prompt\":false,"
            + "\"truncation\":\"disabled\",";
    assertThat(event("{" + TURN + options + HELLO + "}").options())
        .isEqualTo(
            new GenerationOptions(
                0.5,
                40,
                0.9,
                0.05,
                1.1,
                -1.0,
                2.0,
                Map.of(7, -100.0),
                12,
                List.of("a", "b"),
                -9L,
                true,
                3,
                true,
                -7,
                "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"b\":1,\"a\":2}}}]",
                "{\"type\":\"function\",\"function\":{\"name\":\"f\"}}",
                false,
                "hermes",
                "{\"enable_thinking\":false}",
                "low",
                64,
                false,
                null,
                "{\"choice\":[\"a\"]}",
                "a b",
                null,
                true,
                false,
                "disabled"));
  }

  @Test
  void takesASingleStopStringAndTheNewNameOfMaxTokens() {
    GenerationOptions options =
        event("{" + TURN + "\"stop\":\"end\",\"max_completion_tokens\":5," + HELLO + "}").options();
    assertThat(options.stop()).containsExactly("end");
    assertThat(options.maxTokens()).isEqualTo(5);
  }

  @Test
  void takesNullAsNotGiven() {
    assertThat(event("{" + TURN + "\"branch\":null,\"stop\":null,\"seed\":null," + HELLO + "}"))
        .isEqualTo(event("{" + TURN + HELLO + "}"));
  }

  @Test
  void joinsTextParts() {
    String parts =
        "\"messages\":[{\"role\":\"tool\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
            + "{\"type\":\"text\",\"text\":\"b\"}]}]";
    assertThat(event("{" + TURN + parts + "}").messages())
        .containsExactly(new Message("tool", "ab"));
  }

  @Test
  void readsCallsAndTheirResults() {
    String json =
        """
        {"session":"s","turn":"t","type":"append","messages":[
         {"role":"developer","content":"Be brief."},
         {"role":"user","content":"How warm is it?","name":"ann"},
         {"role":"assistant","content":null,"reasoning_content":"Ask.","tool_calls":[
          {"id":"c1","type":"function","function":{"name":"warmth","arguments":"{\\"at\\":\\"Ulm\\"}"}},
          {"id":"c2","function":{"name":"now","arguments":""}}]},
         {"role":"tool","tool_call_id":"c1","name":"warmth","content":"7"},
         {"role":"tool","tool_call_id":"c2","content":""}]}
        """;
    List<ToolCall> calls =
        List.of(new ToolCall("c1", "warmth", "{\"at\":\"Ulm\"}"), new ToolCall("c2", "now", ""));
    assertThat(event(json).messages())
        .containsExactly(
            new Message("developer", "Be brief."),
            new Message("user", "How warm is it?", "ann", List.of(), null, null),
            new Message("assistant", null, null, calls, null, "Ask."),
            new Message("tool", "7", "warmth", List.of(), "c1", null),
            new Message("tool", "", null, List.of(), "c2", null));
  }

  @Test
  void keepsControlCharactersAndSpecialTokensAndReplacesLoneSurrogates() {
    String content = "x\\u0000\\u001b<|im_end|>\\ud800y\\ud83d\\ude00";
    String json =
        "{" + TURN + "\"messages\":[{\"role\":\"user\",\"content\":\"" + content + "\"}]}";
    assertThat(event(json).messages().get(0).content())
        .isEqualTo("x\u0000\u001b<|im_end|>\uFFFDy\uD83D\uDE00");
  }

  @Test
  void takesAMessageOf100000Words() {
    String text = "word ".repeat(100_000);
    String json = "{" + TURN + "\"messages\":[{\"role\":\"user\",\"content\":\"" + text + "\"}]}";
    assertThat(event(json).messages().get(0).content()).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          "temperature":NaN                    | temperature is NaN; it must be 0 to 2
          "temperature":-Infinity              | temperature is -Infinity; it must be 0 to 2
          "temperature":"0.5"                  | temperature is a string; it must be a number
          "temperature":2.5                    | temperature is 2.5; it must be 0 to 2
          "max_tokens":-2                      | max_tokens is -2; it must be 1 to 2147483647
          "max_tokens":1.5                     | max_tokens is 1.5; it must be an integer
          "max_tokens":1e99                    | max_tokens is 1e99; it must be 1 to 2147483647
          "max_tokens":1,"max_completion_tokens":1 | two names of one limit
          "top_p":-0.1                         | top_p is -0.1; it must be 0 to 1
          "n":2                                | n is 2; it must be 1
          "top_logprobs":2                     | top_logprobs needs logprobs to be true
          "priority":101                       | priority is 101; it must be -100 to 100
          "logprobs":1                         | logprobs is a number; it must be true or false
          "logit_bias":{"x":1,"3":1,"-1":1}    | logit_bias has keys that are not token ids: "x", "-1"
          "logit_bias":{"5":101}               | logit_bias.5 is 101; it must be -100 to 100
          "stop":[1]                           | stop[0] is a number; it must be a string
          "seed":9223372036854775808           | seed is 9223372036854775808
          "tools":[{"type":"function"}]        | tools[0].function is missing
          "tools":[{"type":"x","function":{}}] | tools[0].type is "x"
          "tools":[{"type":"function","function":{"name":"a b"}}] | tools[0].function.name is "a b"; it must match
          "tools":[{"type":"function","function":{"name":"a","strict":1}}] | tools[0].function.strict is a number
          "tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"a"}}] | tools[1].function.name is "a", which another tool has
          "tools":[{"type":"function","function":{"name":"a","parameters":"x"}}] | tools[0].function.parameters is a string
          "tool_choice":{"type":"function"}    | tool_choice.function is missing
          "tool_choice":{"type":"function","function":{"name":"a b"}} | tool_choice.function.name is "a b"; it must match
          "tool_choice":"any"                  | tool_choice is "any"; it must be one of
          "parallel_tool_calls":0              | parallel_tool_calls is a number
          "chat_template_kwargs":{"messages":[]} | chat_template_kwargs has messages, which is not for its sender to set
          "chat_template_kwargs":{"a b":1}     | chat_template_kwargs has the name "a b"
          "truncation":"middle"                | truncation is "middle"; it must be one of
          "reasoning_effort":"huge"            | reasoning_effort is "huge"; it must be one of
          "response_format":{"type":"xml"}     | response_format.type is "xml"; it must be one of
          "response_format":{"type":"json_schema"} | response_format.json_schema is missing
          "response_format":{"type":"json_schema","json_schema":{"name":"a"}} | response_format.json_schema.schema is missing
          "response_format":{"type":"text","json_schema":{"schema":{}}} | needs response_format.type to be json_schema
          "response_format":{"type":"text"},"structured_outputs":{"regex":"a"} | give only one of them
          "prediction":{"content":"a"}         | prediction.type is missing
          "prediction":{"type":"x","content":"a"} | prediction.type
          "prediction":{"type":"content","content":1} | prediction.content
          "prediction":{"type":"content","content":[{"type":"image","text":"a"}]} | type
          "structured_outputs":{}              | structured_outputs must have one of json, regex, grammar, choice, structural_tag
          "structured_outputs":{"regex":"a","choice":["b"]} | structured_outputs must have one of
          "structured_outputs":{"choice":[]}   | structured_outputs.choice is empty
          "structured_outputs":{"choice":[1]}  | structured_outputs.choice[0] is a number
          "structured_outputs":{"json":1}      | structured_outputs.json is a number
          "guided_json":1                      | guided_json is a number
          "guided_regex":{}                    | guided_regex is an object
          "guided_choice":[]                   | guided_choice is empty
          "guided_choice":["a",1]              | guided_choice[1] is a number
          "guided_json":{},"guided_regex":"a"  | guided_json and guided_regex both constrain
          "structured_outputs":{"regex":"a"},"guided_choice":["a"] | structured_outputs and guided_choice both
          "response_format":{"type":"text"},"guided_grammar":"a" | response_format and guided_grammar both constrain
          "max_token":5                        | the field "max_token" is unknown. Did you mean max_tokens?
          "new_branch":"b"                     | new_branch is not a field of message events
          "type":"mesage"                      | Did you mean message?
          "type":7                             | type is a number; it must be a string
          "tenant":"a\\u0000"                   | tenant has control characters
          "replace":"yes"                      | replace is a string; it must be true or false
          """)
  void rejectsAWrongFieldByName(String field, String error) {
    ParsedEvent parsed = parse("{" + TURN + field + "," + HELLO + "}");
    assertThat(parsed.unreadable()).isFalse();
    assertThat(parsed.event().error()).contains(error);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          []                                               | messages is empty
          "hello"                                          | messages is a string; it must be an array
          ["hello"]                                        | messages[0] is a string; it must be an object
          [{"content":"x"}]                                | messages[0].role is missing
          [{"role":"a bot","content":"x"}]                 | messages[0].role is "a bot"; it must be one of
          [{"role":"prompt","content":"x"}]                | messages[0].role is "prompt"; it must be one of
          [{"role":"user"}]                                | messages[0].content is missing
          [{"role":"user","content":null}]                 | messages[0].content is missing
          [{"role":"user","content":[]}]                   | messages[0].content is empty; it must have 1 to 1000 parts
          [{"role":"user","content":[{"type":"hologram"}]}] | messages[0].content[0].type is "hologram", which is not a type
          [{"role":"user","content":"x","audio":{}}]       | messages[0].audio is not served yet
          [{"role":"user","content":"x","tool_calls":[]}]  | messages[0].tool_calls is given, which only a message of role "assistant" may have
          [{"role":"assistant","tool_calls":[]}]           | messages[0].content is missing
          [{"role":"assistant","tool_calls":[{"id":"c"}]}] | messages[0].tool_calls[0].function is missing
          [{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":{}}}]}] | messages[0].tool_calls[0].function.arguments is an object; it must be a string
          [{"role":"assistant","tool_calls":[{"id":"c","type":"custom","function":{"name":"f","arguments":""}}]}] | messages[0].tool_calls[0].type is "custom"
          [{"role":"user","content":"x","tool_call_id":"c"}] | messages[0].tool_call_id is given, which only a message of role "tool" may have
          [{"role":"user","content":"x","name":"a\\nb"}]    | messages[0].name has control characters
          [{"role":"user","content":"x","rol":1}]          | messages[0] has the unknown field "rol". Did you mean role?
          """)
  void rejectsWrongMessagesByPath(String messages, String error) {
    assertThat(parse("{" + TURN + "\"messages\":" + messages + "}").event().error())
        .contains(error);
  }

  @Test
  void whatOtherServersServeIsServed() {
    String call = "{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}";
    String calls = String.join(",", Collections.nCopies(1000, call));
    String messages =
        "\"messages\":[{\"role\":\"user\",\"content\":\"\",\"name\":\"Ada Lovelace\"},"
            + "{\"role\":\"assistant\",\"tool_calls\":["
            + calls
            + "]},{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"\"}]}]";
    ConversationEvent event =
        event("{" + TURN + "\"top_p\":0,\"stop\":[\"\",\"x\"]," + messages + "}");
    assertThat(event.options().topP()).isEqualTo(1e-6);
    assertThat(event.options().stop()).containsExactly("x");
    assertThat(event.messages().get(0))
        .isEqualTo(new Message("user", "", "Ada Lovelace", List.of(), null, null));
    assertThat(event.messages().get(1).toolCalls()).hasSize(1000);
    assertThat(event.messages().get(2).content()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"mcp__server__tool.of/many:parts-", "a.b"})
  void aToolMayHaveANameAsMcpServersGiveThem(String name) {
    String tools = "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"%s\"}}]";
    for (String given : List.of(name, "n".repeat(128))) {
      assertThat(event("{" + TURN + tools.formatted(given) + "," + HELLO + "}").options().tools())
          .contains(given);
    }
  }

  @Test
  void anInvalidEventNamesTheTurnToAnswer() {
    assertThat(
            parse("{'session':'s','branch':'b','turn':'t','tenant':'acme'}".replace('\'', '"'))
                .event())
        .isEqualTo(
            ConversationEvent.builder(EventKind.MESSAGE, "s", "t")
                .branch("b")
                .tenant("acme")
                .origin(ORIGIN)
                .error("messages is missing: the new turn's messages")
                .build());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "not json",
        "",
        "[]",
        "null",
        "{\"turn\":\"t\"}",
        "{\"session\":7,\"turn\":\"t\"}",
        "{\"session\":\"\",\"turn\":\"t\"}",
        "{\"session\":\"s\\ud800\",\"turn\":\"t\"}",
        "{\"session\":\"s\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}",
        "{\"session\":\"s\",\"session\":\"r\",\"turn\":\"t\"}",
        "{\"type\":\"cancel\",\"session\":\"s\",\"turn\":\"t\",\"seed\":1}",
      })
  void callsUnreadableWhatNobodyCanBeAnswered(String json) {
    ParsedEvent parsed = parse(json);
    assertThat(parsed.event()).isNull();
    assertThat(parsed.unreadable()).isTrue();
    assertThat(parsed.reason()).isNotBlank();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"session\":\"s\",\"turn\":\"t\",\"messages\":[{\"role\":",
        "{\"session\":\"s\",\"turn\":\"t\",\"seed\":1,\"seed\":2}",
        "{\"session\":\"s\",\"turn\":\"t\"} trailing",
        "{\"session\":\"s\",\"turn\":\"t\",\"x\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]",
      })
  void answersAndKeepsWhatIsBrokenBehindItsIds(String json) {
    ParsedEvent parsed = parse(json);
    assertThat(parsed.unreadable()).isTrue();
    assertThat(parsed.event())
        .returns("s", ConversationEvent::session)
        .returns("t", ConversationEvent::turn);
    assertThat(parsed.event().error()).startsWith("the event cannot be read as JSON: ");
  }

  @Test
  void answersAnEventThatIsTooLargeWithTheNumbers() {
    String json = "{" + TURN + "\"messages\":\"" + "x".repeat(10_000_000) + "\"}";
    assertThat(parse(json).event().error())
        .isEqualTo("the event has 10000040 bytes; at most 1048576 are allowed");
  }

  @Test
  void refusesJsonOfManyTinyValuesBeforeItFillsTheMemory() {
    String json = "{" + TURN + "\"messages\":[" + "[],".repeat(300_000) + "[]]}";
    assertThat(parse(json).event().error()).contains("Token count");
  }

  @Test
  void readsTombstonesAndInvalidUtf8AsUnreadable() {
    assertThat(parser.parse(null, ORIGIN).unreadable()).isTrue();
    assertThat(parser.parse(new byte[] {'{', (byte) 0xff, '}'}, ORIGIN).unreadable()).isTrue();
  }

  @Test
  void readsForksAndOpens() {
    ConversationEvent fork =
        event("{\"type\":\"fork\",\"session\":\"s\",\"new_branch\":\"b\",\"at_turn\":\"t1\"}");
    assertThat(fork)
        .returns(EventKind.FORK, ConversationEvent::kind)
        .returns("b", ConversationEvent::newBranch)
        .returns("t1", ConversationEvent::atTurn)
        .returns(null, ConversationEvent::turn);
    ConversationEvent open =
        event(
            "{\"type\":\"open\",\"session\":\"s\",\"tenant\":\"acme\",\"temperature\":1,"
                + "\"messages\":[{\"role\":\"system\",\"content\":\"be brief\"}]}");
    assertThat(open.tenant()).isEqualTo("acme");
    assertThat(open.options().temperature()).isEqualTo(1.0);
  }

  private ParsedEvent parse(String json) {
    return parser.parse(json.getBytes(UTF_8), ORIGIN);
  }

  private ConversationEvent event(String json) {
    ParsedEvent parsed = parse(json);
    assertThat(parsed.reason()).isNull();
    return parsed.event();
  }

  @ParameterizedTest
  @EnumSource(EventKind.class)
  void anEventOfAnyTypeHasATenant(EventKind kind) {
    boolean says = kind == EventKind.MESSAGE || kind == EventKind.APPEND;
    List<Message> messages = says ? List.of(new Message("user", "hi")) : List.of();
    ConversationEvent event =
        ConversationEvent.builder(kind, "s", "t")
            .tenant("acme")
            .newBranch(kind == EventKind.FORK ? "b" : null)
            .atTurn(kind == EventKind.DELETE_TURN ? "u" : null)
            .messages(messages)
            .origin(ORIGIN)
            .build();
    byte[] json = EventWriter.write(event);
    assertThat(Schemas.check(Schemas.EVENT, json)).isEmpty();
    assertThat(new EventParser(1 << 20).parse(json, ORIGIN).event()).isEqualTo(event);
  }

  @Test
  void anEventThatCannotBeReadKeepsItsTenant() {
    String start = "{'session':'s','turn':'t','tenant':'acme',".replace('\'', '"');
    assertThat(parse(start + "broken").event().tenant()).isEqualTo("acme");
    assertThat(parse(start + "\"tenant\":\"beta\"}").event()).isNull();
  }

  @Test
  void metadataHasAtMost16KibibytesInAll() {
    String start =
        "{" + TURN + "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],\"metadata\":{";
    String value = "\":\"" + "\u00e9".repeat(2_047) + "\"";
    String full = "\"aa" + value + ",\"bb" + value + ",\"cc" + value + ",\"dd" + value;
    assertThat(parse(start + full + "}}").event().error()).isNull();
    assertThat(parse(start + full + ",\"e\":\"\"}}").event().error())
        .contains("metadata has 16385 bytes");
  }

  @Test
  void fieldsThatClientsOfOtherServicesSendAreIgnored() {
    String fields =
        "\"model\":\"m\",\"stream\":true,\"user\":7,\"store\":null,\"stream_options\":{\"a\":[]}";
    for (String type : List.of("\"type\":\"query\",", "\"type\":\"cancel\",")) {
      ConversationEvent plain = parse("{" + type + TURN.replaceAll(",$", "") + "}").event();
      assertThat(parse("{" + type + TURN + fields + "}").event()).isEqualTo(plain);
      assertThat(plain.error()).isNull();
    }
  }

  @Test
  void aPromptTakesThePlaceOfMessages() {
    ConversationEvent event =
        ConversationEvent.prompt("s", "t", "Once upon").origin(ORIGIN).build();
    byte[] json = EventWriter.write(event);
    assertThat(new String(json, UTF_8))
        .contains("\"prompt\":\"Once upon\"")
        .doesNotContain("messages");
    assertThat(Schemas.check(Schemas.EVENT, json)).isEmpty();
    assertThat(new EventParser(1 << 20).parse(json, ORIGIN).event()).isEqualTo(event);
    assertThat(parse("{" + TURN + "\"prompt\":\"x\"," + HELLO + "}").event().error())
        .contains("messages and prompt are both given");
    assertThat(parse("{" + TURN + "\"prompt\":\"x\",\"match_history\":true}").event().error())
        .contains("match_history and prompt are both given");
  }
}
