package io.radixflow.protocol.event;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.ValidationMessage;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.record.RetentionRange;
import io.radixflow.protocol.record.TokenOptions;
import io.radixflow.protocol.topic.EventWriter;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class EventSchemaProperties {
  private static final String CHOICE = "{\"type\":\"function\",\"function\":{\"name\":\"f\"}}";

  private static final Origin ORIGIN = new Origin(0, 0, 0);

  private final EventParser parser = new EventParser(1 << 20);

  @Example
  void theParserAcceptsEachFieldExactlyWhereTheSchemaDoes() {
    int accepted = 0;
    for (String start : STARTS) {
      for (String name : VALUES.keySet()) {
        for (String value : VALUES.get(name)) {
          String json = document(start, List.of("\"" + name + "\":" + value));
          agree(json);
          accepted += parser.parse(json.getBytes(UTF_8), ORIGIN).isValid() ? 1 : 0;
        }
      }
    }
    assertThat(accepted).isGreaterThan(200);
  }

  @Property(tries = 1000)
  void theParserAcceptsExactlyWhatTheSchemaAccepts(@ForAll("documents") String json) {
    agree(json);
  }

  private void agree(String json) {
    byte[] bytes = json.getBytes(UTF_8);
    ParsedEvent parsed = parser.parse(bytes, ORIGIN);
    Set<ValidationMessage> faults = Schemas.check(Schemas.EVENT, bytes);
    assertThat(parsed.isValid())
        .as("%s%nparser: %s%nschema: %s", json, parsed.reason(), faults)
        .isEqualTo(faults.isEmpty());
  }

  @Property(tries = 500)
  void whatIsWrittenIsReadBackAndFitsTheSchema(@ForAll("events") ConversationEvent event) {
    byte[] json = EventWriter.write(event);
    assertThat(Schemas.check(Schemas.EVENT, json)).isEmpty();
    assertThat(parser.parse(json, event.origin()).event()).isEqualTo(event);
  }

  @Property(tries = 1000)
  void bytesNeverMakeTheParserThrow(@ForAll byte[] bytes) {
    ParsedEvent parsed = parser.parse(bytes, ORIGIN);
    assertThat(parsed.event() != null || parsed.unreadable()).isTrue();
    assertThat(parsed.isValid())
        .isEqualTo(parsed.event() != null && parsed.event().error() == null);
  }

  /** Objects of a few fields, each now right, now wrong. */
  @Provide
  Arbitrary<String> documents() {
    Arbitrary<List<String>> fields =
        Arbitraries.of(new ArrayList<>(VALUES.keySet()))
            .flatMap(
                name -> Arbitraries.of(VALUES.get(name)).map(value -> "\"" + name + "\":" + value))
            .list()
            .ofMaxSize(4);
    return Combinators.combine(Arbitraries.of(STARTS), fields).as(EventSchemaProperties::document);
  }

  private static String allowed(String mode, String tools) {
    return "{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"%s\",\"tools\":[%s]}}"
        .formatted(mode, tools);
  }

  private static String tool(String name) {
    return "{\"type\":\"function\",\"function\":{\"name\":\""
        + name
        + "\",\"description\":\"x\",\"parameters\":{\"type\":\"object\"}}}";
  }

  private static String assistant(String call) {
    return "[{\"role\":\"assistant\",\"tool_calls\":[" + call + "]}]";
  }

  private static String document(String start, List<String> fields) {
    StringBuilder json = new StringBuilder("{").append(start);
    Set<String> names = new HashSet<>();
    for (String field : fields) {
      String name = field.substring(1, field.indexOf('"', 1));
      if (!start.contains("\"" + name + "\":") && names.add(name)) {
        json.append(',').append(field);
      }
    }
    return json.append('}').toString();
  }

  private static final List<String> STARTS =
      List.of(
          "\"session\":\"s\",\"turn\":\"t\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]",
          "\"session\":\"s\",\"turn\":\"t\"",
          "\"session\":\"s\",\"turn\":\"t\",\"previous_turn\":\"p\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]",
          "\"session\":\"s\",\"turn\":\"t\",\"match_history\":true,\"messages\":[{\"role\":\"assistant\",\"content\":\"\"}]",
          "\"session\":\"s\",\"turn\":\"t\",\"prompt\":\"x\"",
          "\"type\":\"open\",\"session\":\"s\"",
          "\"type\":\"regenerate\",\"session\":\"s\",\"turn\":\"t\"",
          "\"type\":\"regenerate\",\"session\":\"s\",\"turn\":\"t\",\"at_turn\":\"u\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]",
          "\"type\":\"regenerate\",\"session\":\"s\",\"turn\":\"t\",\"messages\":[{\"role\":\"system\",\"content\":\"x\"}]",
          "\"type\":\"fork\",\"session\":\"s\",\"new_branch\":\"b\"",
          "\"type\":\"append\",\"session\":\"s\",\"turn\":\"t\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]",
          "\"type\":\"append\",\"session\":\"s\",\"turn\":\"t\"",
          "\"type\":\"delete_turn\",\"session\":\"s\"",
          "\"type\":\"delete_turn\",\"session\":\"s\",\"at_turn\":\"t\"",
          "\"type\":\"cancel\",\"session\":\"s\"",
          "\"type\":\"close\",\"session\":\"s\"",
          "\"type\":\"erase\",\"session\":\"s\"",
          "\"type\":\"prefetch\",\"session\":\"s\"",
          "\"type\":\"query\",\"session\":\"s\",\"turn\":\"t\"",
          "\"session\":\"s\"");
  private static final String LONG = "\"" + "x".repeat(257) + "\"";
  private static final String EMOJI = "\"" + "\uD83D\uDE00".repeat(256) + "\"";
  private static final List<String> IDS =
      List.of("\"a\"", "\"\"", "null", "7", LONG, EMOJI, "\"a\\n\"", "\"\\ud800\"");
  private static final List<String> REALS =
      List.of(
          "0",
          "1",
          "1.0",
          "-1",
          "0.5",
          "2",
          "2.0000001",
          "-2.5",
          "1e-9",
          "1e-6",
          "10",
          "10.5",
          "null",
          "\"1\"",
          "true",
          "1e400");
  private static final List<String> INTEGERS =
      List.of(
          "0",
          "1",
          "-1",
          "1.0",
          "1.5",
          "20",
          "21",
          "2147483647",
          "2147483648",
          "1e3",
          "null",
          "\"1\"",
          "9223372036854775807",
          "9223372036854775808",
          "-9223372036854775809");
  private static final List<String> BOOLEANS = List.of("true", "false", "null", "0", "\"true\"");
  private static final List<String> HINTS =
      List.of(
          "{}",
          "null",
          "[]",
          "{\"no_store\":true,\"pin_ms\":0}",
          "{\"no_store\":1}",
          "{\"pin_ms\":86400000}",
          "{\"pin_ms\":86400001}",
          "{\"pin\":1}",
          "{\"retention\":[]}",
          "{\"retention\":{}}",
          "{\"retention\":[null]}",
          "{\"retention\":[{}]}",
          "{\"retention\":[{\"priority\":100}]}",
          "{\"retention\":[{\"priority\":101}]}",
          "{\"retention\":[{\"priority\":1,\"token_start\":null,\"token_count\":1.0}]}",
          "{\"retention\":[{\"priority\":1,\"token_start\":2147483646,\"token_count\":2147483647}]}",
          "{\"retention\":[{\"priority\":1,\"token_start\":2147483647}]}",
          "{\"retention\":[{\"priority\":1,\"token_count\":0}]}",
          "{\"retention\":[" + "{\"priority\":1},".repeat(16) + "{\"priority\":1}]}",
          "{\"generated\":null}",
          "{\"generated\":{\"priority\":-100,\"duration_ms\":1}}",
          "{\"generated\":{\"priority\":1,\"duration_ms\":0}}",
          "{\"generated\":{\"priority\":1,\"token_count\":1}}");
  private static final List<String> METADATA =
      List.of(
          "{}",
          "null",
          "[]",
          "{\"a\":\"b\",\"\":\"\"}",
          "{\"a\":null}",
          "{\"a\":1}",
          "{\"" + "\uD83D\uDE00".repeat(64) + "\":\"" + "\uD83D\uDE00".repeat(1_000) + "\"}",
          "{\"" + "x".repeat(65) + "\":\"b\"}",
          "{\"a\":\"" + "x".repeat(4_096) + "\"}",
          "{\"a\":\"" + "x".repeat(4_097) + "\"}",
          IntStream.range(0, 64)
              .mapToObj(i -> "\"" + i + "\":\"x\"")
              .collect(Collectors.joining(",", "{", "}")),
          IntStream.range(0, 65)
              .mapToObj(i -> "\"" + i + "\":\"x\"")
              .collect(Collectors.joining(",", "{", "}")));
  private static final Map<String, List<String>> VALUES =
      Map.ofEntries(
          Map.entry("branch", IDS),
          Map.entry("turn", IDS),
          Map.entry("at_turn", IDS),
          Map.entry("previous_turn", IDS),
          Map.entry("match_history", BOOLEANS),
          Map.entry("new_branch", IDS),
          Map.entry("tenant", IDS),
          Map.entry("cache_salt", IDS),
          Map.entry("replace", BOOLEANS),
          Map.entry("cache", HINTS),
          Map.entry("metadata", METADATA),
          Map.entry(
              "prompt",
              List.of("\"a\"", "\"\"", "null", "[]", "7", "[1]", "[0,1.0]", "[-1]", "[\"a\"]")),
          Map.entry("min_tokens", INTEGERS),
          Map.entry("truncate_prompt_tokens", INTEGERS),
          Map.entry("prompt_logprobs", INTEGERS),
          Map.entry("include_stop_str_in_output", BOOLEANS),
          Map.entry("skip_special_tokens", BOOLEANS),
          Map.entry("add_special_tokens", BOOLEANS),
          Map.entry("echo", BOOLEANS),
          Map.entry("return_token_ids", BOOLEANS),
          Map.entry("return_progress", BOOLEANS),
          Map.entry(
              "stop_token_ids", List.of("[]", "[1,2]", "[-1]", "[1.5]", "null", "7", "[null]")),
          Map.entry("allowed_token_ids", List.of("[]", "[1,2]", "[2147483648]", "null", "{}")),
          Map.entry(
              "bad_words",
              List.of("[]", "[\"a\"]", "[\"\"]", "[\" \"]", "[\" a\"]", "\"a\"", "[1]", "null")),
          Map.entry("stream", BOOLEANS),
          Map.entry("user", IDS),
          Map.entry("model", IDS),
          Map.entry("store", BOOLEANS),
          Map.entry("stream_options", HINTS),
          Map.entry("logprobs", BOOLEANS),
          Map.entry("ignore_eos", BOOLEANS),
          Map.entry("temperature", REALS),
          Map.entry("top_p", REALS),
          Map.entry("min_p", REALS),
          Map.entry("repetition_penalty", REALS),
          Map.entry("presence_penalty", REALS),
          Map.entry("frequency_penalty", REALS),
          Map.entry("top_k", INTEGERS),
          Map.entry("max_tokens", INTEGERS),
          Map.entry("max_completion_tokens", INTEGERS),
          Map.entry("seed", INTEGERS),
          Map.entry("top_logprobs", INTEGERS),
          Map.entry("priority", INTEGERS),
          Map.entry("n", INTEGERS),
          Map.entry(
              "stop",
              List.of("\"a\"", "\"\"", "[]", "[\"a\",\"b\"]", "[\"\"]", "[1]", "7", "null", LONG)),
          Map.entry(
              "logit_bias",
              List.of(
                  "{}",
                  "{\"1\":2}",
                  "{\"01\":2}",
                  "{\"-1\":2}",
                  "{\"1\":101}",
                  "{\"1\":\"2\"}",
                  "{\"1\\n\":2}",
                  "{\"1234567890\":1}",
                  "null",
                  "[]")),
          Map.entry(
              "messages",
              List.of(
                  "[]",
                  "null",
                  "{}",
                  "[null]",
                  "[{\"role\":\"system\",\"content\":\"x\"}]",
                  "[{\"role\":\"user\",\"content\":\"x\"}]",
                  "[{\"role\":\"user\",\"content\":\"\"}]",
                  "[{\"role\":\"assistant\",\"content\":\"\"}]",
                  "[{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"\"}]}]",
                  "[{\"role\":\"user\",\"content\":\"x\",\"name\":\"y\"}]",
                  "[{\"role\":\"user\",\"content\":\"x\",\"name\":\"y z\"}]",
                  "[{\"role\":\"user\",\"content\":\"x\",\"name\":\"y\\n\"}]",
                  "[{\"role\":\"user\",\"content\":\"x\",\"tool_calls\":[]}]",
                  "[{\"role\":\"user\",\"content\":\"x\",\"reasoning_content\":\"y\"}]",
                  "[{\"role\":\"developer\",\"content\":\"x\"}]",
                  "[{\"role\":\"developer\",\"content\":\"\"}]",
                  "[{\"role\":\"tool\",\"content\":\"\",\"tool_call_id\":\"c\"}]",
                  "[{\"role\":\"tool\",\"content\":\"x\",\"tool_call_id\":\"\"}]",
                  "[{\"role\":\"assistant\",\"content\":\"x\",\"tool_call_id\":\"c\"}]",
                  "[{\"role\":\"assistant\",\"content\":null}]",
                  "[{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":\"y\"}]",
                  "[{\"role\":\"assistant\",\"tool_calls\":[]}]",
                  assistant("{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}"),
                  assistant(
                      "{\"id\":\"c\",\"type\":\"function\","
                          + "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}"),
                  assistant("{\"id\":\"\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}"),
                  assistant("{\"id\":\"c\",\"function\":{\"name\":\"f\"}}"),
                  assistant("{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":{}}}"),
                  assistant("{\"id\":\"c\",\"function\":null}"),
                  assistant("{\"id\":\"c\",\"type\":\"x\"}"),
                  assistant("null"),
                  "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}]",
                  "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"\"}]}]",
                  "[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]",
                  "[{\"role\":\"tool\",\"content\":[{\"type\":\"image\",\"source\":{}}]}]",
                  "[{\"role\":\"user\",\"content\":[{\"type\":\"hologram\"}]}]",
                  "[{\"role\":\"critic\",\"content\":\"x\"}]",
                  "[{\"role\":\"critic\",\"content\":\"\"}]",
                  "[{\"role\":\"critic\",\"content\":\"x\",\"tool_call_id\":\"c\"}]",
                  "[{\"role\":\"prompt\",\"content\":\"x\"}]",
                  "[{\"role\":\"<|end|>\",\"content\":\"x\"}]",
                  "[{\"role\":\"user\",\"content\":[]}]")),
          Map.entry(
              "tool_choice",
              List.of(
                  allowed("auto", "{\"type\":\"function\",\"function\":{\"name\":\"f\"}}"),
                  allowed("required", "{\"type\":\"function\",\"function\":{\"name\":\"a b\"}}"),
                  allowed("auto", "{\"type\":\"function\"}"),
                  allowed("any", "{\"type\":\"function\",\"function\":{\"name\":\"f\"}}"),
                  allowed("auto", ""),
                  "{\"type\":\"allowed_tools\"}",
                  "\"auto\"",
                  "\"none\"",
                  "\"required\"",
                  "\"x\"",
                  "null",
                  "1",
                  "{}",
                  "{\"type\":\"function\",\"function\":{\"name\":\"f\"}}",
                  "{\"type\":\"x\",\"function\":{\"name\":\"f\"}}",
                  "{\"type\":\"function\",\"function\":{\"name\":\"a b\"}}")),
          Map.entry("parallel_tool_calls", BOOLEANS),
          Map.entry(
              "response_format",
              List.of(
                  "{\"type\":\"text\"}",
                  "{\"type\":\"json_object\",\"json_schema\":null}",
                  "{\"type\":\"json_schema\"}",
                  "{\"type\":\"json_schema\",\"json_schema\":{}}",
                  "{\"type\":\"json_schema\",\"json_schema\":{\"schema\":{},\"strict\":true}}",
                  "{\"type\":\"json_schema\",\"json_schema\":{\"schema\":[]}}",
                  "{\"type\":\"text\",\"json_schema\":{\"schema\":{}}}",
                  "{\"type\":\"x\"}",
                  "{}",
                  "null",
                  "1")),
          Map.entry(
              "prediction",
              List.of(
                  "{\"type\":\"content\",\"content\":\"a\"}",
                  "{\"type\":\"content\",\"content\":[{\"type\":\"text\",\"text\":\"a\"}]}",
                  "{\"type\":\"content\",\"content\":[{\"type\":\"image\",\"text\":\"a\"}]}",
                  "{\"type\":\"text\",\"content\":\"a\"}",
                  "{\"type\":\"content\",\"content\":1}",
                  "{\"type\":\"content\"}",
                  "null",
                  "\"a\"")),
          Map.entry(
              "structured_outputs",
              List.of(
                  "{\"json\":{\"type\":\"null\"}}",
                  "{\"json\":\"{}\",\"regex\":null}",
                  "{\"json\":1}",
                  "{\"regex\":\"a\"}",
                  "{\"regex\":\"a\",\"grammar\":\"b\"}",
                  "{\"grammar\":1}",
                  "{\"structural_tag\":{\"format\":{}}}",
                  "{\"structural_tag\":\"{}\"}",
                  "{\"structural_tag\":[]}",
                  "{\"choice\":[\"a\",\"\"]}",
                  "{\"choice\":[]}",
                  "{\"choice\":[1]}",
                  "{\"x\":1}",
                  "{}",
                  "null",
                  "[]")),
          Map.entry("guided_json", List.of("{\"type\":\"null\"}", "\"{}\"", "1", "[]", "null")),
          Map.entry("guided_regex", List.of("\"a\"", "1", "null")),
          Map.entry("guided_grammar", List.of("\"root ::= \\\"a\\\"\"", "{}", "null")),
          Map.entry("guided_choice", List.of("[\"a\",\"\"]", "[]", "[1]", "\"a\"", "null")),
          Map.entry("tool_parser", List.of("\"hermes\"", "\"a b\"", "\"\"", "null", "1")),
          Map.entry("reasoning_effort", List.of("\"low\"", "\"x\"", "null", "1")),
          Map.entry(
              "thinking_token_budget",
              List.of("0", "2147483647", "2147483648", "-1", "1.5", "null", "\"1\"")),
          Map.entry("separate_reasoning", BOOLEANS),
          Map.entry("truncation", List.of("\"auto\"", "\"disabled\"", "\"x\"", "true", "null")),
          Map.entry("continue_final_message", BOOLEANS),
          Map.entry("add_generation_prompt", BOOLEANS),
          Map.entry(
              "chat_template_kwargs",
              List.of(
                  "{}",
                  "{\"enable_thinking\":false,\"b\":[{\"c\":null}]}",
                  "{\"tools\":1}",
                  "{\"a b\":1}",
                  "{\"\":1}",
                  "null",
                  "[]")),
          Map.entry(
              "tools",
              List.of(
                  "[]",
                  "null",
                  "{}",
                  "[null]",
                  "[" + tool("f") + "]",
                  "[" + tool("f") + "," + tool("g_-1") + "]",
                  "[" + tool("a.b/c:d") + "]",
                  "[" + tool("a b") + "]",
                  "[" + tool("") + "]",
                  "[{\"type\":\"function\"}]",
                  "[{\"type\":\"x\",\"function\":{\"name\":\"f\"}}]",
                  "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"strict\":false}}]",
                  "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"x\":1}}]",
                  "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"description\":1}}]",
                  "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":[]}}]",
                  IntStream.range(0, 1024)
                      .mapToObj(i -> tool("f" + i))
                      .collect(Collectors.joining(",", "[", "]")),
                  IntStream.range(0, 1025)
                      .mapToObj(i -> tool("f" + i))
                      .collect(Collectors.joining(",", "[", "]")))),
          Map.entry("type", List.of("\"message\"", "\"query\"", "\"x\"", "null", "3")),
          Map.entry("unknown", List.of("1")));

  @Provide
  Arbitrary<ConversationEvent> events() {
    Arbitrary<String> id = Arbitraries.strings().alpha().numeric().ofMinLength(1).ofMaxLength(20);
    Arbitrary<String> text =
        Arbitraries.strings().ofMinLength(1).ofMaxLength(30).map(Texts::wellFormed);
    Arbitrary<Message> plain =
        Combinators.combine(
                Arbitraries.of("system", "developer", "user", "assistant", "tool"),
                text,
                id.injectNull(0.8))
            .as((role, content, name) -> new Message(role, content, name, null, null, null));
    Arbitrary<ToolCall> call = Combinators.combine(id, id, text).as(ToolCall::new);
    Arbitrary<Message> calls =
        Combinators.combine(
                text.injectNull(0.5), call.list().ofMinSize(1).ofMaxSize(3), text.injectNull(0.5))
            .as(
                (content, made, reasoning) ->
                    new Message("assistant", content, null, made, null, reasoning));
    Arbitrary<Message> result =
        Combinators.combine(text, id)
            .as((content, of) -> new Message("tool", content, null, null, of, null));
    Arbitrary<Message> message = Arbitraries.oneOf(plain, plain, calls, result);
    return Combinators.combine(
            id,
            id,
            id,
            Arbitraries.of("", "acme"),
            message.list().ofMinSize(1).ofMaxSize(4),
            options().injectNull(0.3),
            Arbitraries.of(true, false),
            hints().injectNull(0.5))
        .as(
            (session, branch, turn, tenant, messages, options, replace, hints) ->
                placed(ConversationEvent.builder(EventKind.MESSAGE, session, turn), branch, replace)
                    .tenant(tenant)
                    .messages(messages)
                    .options(options)
                    .origin(ORIGIN)
                    .metadata(turn.length() % 2 == 0 ? null : Map.of(turn, branch))
                    .cache(hints)
                    .build());
  }

  /** Gives a branch, or the turn before. */
  private static ConversationEvent.Builder placed(
      ConversationEvent.Builder event, String branch, boolean replace) {
    return switch (branch.length() % 5) {
      case 0 -> event.previousTurn(branch);
      case 2 -> event.matchHistory(true);
      case 1 -> event.previousTurn("");
      default -> event.branch(branch).replace(replace);
    };
  }

  private static Arbitrary<CacheHints> hints() {
    Arbitrary<RetentionRange> range =
        Combinators.combine(
                Arbitraries.integers().between(0, 1000),
                Arbitraries.of(1, 100, Integer.MAX_VALUE - 1000),
                Arbitraries.integers().between(-100, 100),
                Arbitraries.of(1L, 5000L, Long.MAX_VALUE))
            .as(
                (start, count, priority, millis) ->
                    new RetentionRange(start, start + count, priority, millis));
    Arbitrary<RetentionRange> generated =
        Combinators.combine(Arbitraries.integers().between(-100, 100), Arbitraries.of(1L, 9L))
            .as((priority, millis) -> new RetentionRange(0, Integer.MAX_VALUE, priority, millis));
    return Combinators.combine(
            Arbitraries.of(true, false),
            Arbitraries.longs().between(0, 86_400_000),
            range.list().ofMaxSize(3),
            generated.injectNull(0.5))
        .as(CacheHints::new);
  }

  private static TokenOptions tokens(Integer count, Map<Integer, Double> bias) {
    return count == null
        ? null
        : new TokenOptions(
            count,
            bias == null ? null : List.copyOf(bias.keySet()),
            count % 2 == 0,
            bias == null ? List.of() : List.of("bad " + count),
            List.of(count),
            count % 3 == 0,
            null,
            null,
            count % 21,
            null,
            count % 5 == 0,
            count % 7 == 0);
  }

  private static Arbitrary<GenerationOptions> options() {
    Arbitrary<Double> real = Arbitraries.doubles().between(0, 1).injectNull(0.3);
    Arbitrary<Integer> integer = Arbitraries.integers().between(1, 100_000).injectNull(0.3);
    return Combinators.combine(
            real,
            integer,
            Arbitraries.of(0.5, 1.0),
            real,
            integer,
            Arbitraries.strings()
                .ofMinLength(1)
                .ofMaxLength(5)
                .map(Texts::wellFormed)
                .list()
                .ofMaxSize(3)
                .injectNull(0.3),
            Arbitraries.longs().injectNull(0.3),
            Arbitraries.maps(
                    Arbitraries.integers().between(0, 50_000),
                    Arbitraries.doubles().between(-100, 100))
                .ofMaxSize(4)
                .injectNull(0.3))
        .as(
            (temperature, topK, topP, minP, maxTokens, stop, seed, bias) ->
                new GenerationOptions(
                    temperature,
                    topK,
                    topP,
                    minP,
                    1.5,
                    -2.0,
                    null,
                    bias,
                    maxTokens,
                    stop,
                    seed,
                    true,
                    3,
                    stop == null ? null : stop.isEmpty(),
                    maxTokens == null ? null : maxTokens % 101,
                    topK == null ? null : "[" + tool("f" + topK) + "]",
                    topK == null ? null : topK % 2 == 0 ? "required" : CHOICE,
                    topK == null ? null : topK % 2 == 0,
                    seed == null ? null : "hermes",
                    seed == null ? null : "{\"seed\":" + seed + "}",
                    seed == null ? null : "low",
                    seed == null ? null : (int) (seed & 4095),
                    stop == null ? null : stop.isEmpty(),
                    topK == null ? "{\"type\":\"json_object\"}" : null,
                    topK == null ? null : "{\"regex\":\"" + topK + "\"}",
                    minP == null ? null : "a \"prediction\" of " + minP,
                    tokens(topK, bias),
                    minP == null ? null : minP < 0.5,
                    minP == null ? null : false,
                    minP == null ? null : "disabled"));
  }
}
