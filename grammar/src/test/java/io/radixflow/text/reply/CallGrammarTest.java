package io.radixflow.text.reply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.grammar.Grammar;
import io.radixflow.grammar.GrammarMatcher;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CallGrammarTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Ends of texts, which a random walk would not find. */
  private static final List<String> ENDS =
      List.of(
          "\n</parameter>",
          "</｜DSML｜parameter>",
          "</arg_value>",
          "<|\"|>",
          "<escape>",
          "<|end|>",
          "\n]<|END_ACTION|>");

  private static final String LINES = "{\"lines\": [1, 2]}";
  private static final Tool WRITE =
      strict("write", List.of("lines"), "lines", Map.of("type", "array", "items", type("integer")));
  private static final ReplyFormat THINKING =
      new ReplyFormat(ToolFormat.HERMES, ReasoningFormat.of("</think>"));

  private static Map<String, ?> type(String name) {
    return Map.of("type", name);
  }

  private static Tool strict(String name, List<String> required, Object... properties) {
    Map<String, Object> all = new LinkedHashMap<>();
    for (int i = 0; i < properties.length; i += 2) {
      all.put((String) properties[i], properties[i + 1]);
    }
    Map<String, Object> schema = new LinkedHashMap<>(Map.of("type", "object"));
    schema.put("properties", all);
    schema.put("required", required);
    schema.put("additionalProperties", false);
    return new Tool(name, schema, true);
  }

  private static String grammar(ToolFormat format, boolean required, Tool... tools) {
    return new ReplyFormat(format, null).grammar(List.of(tools), required, true, "");
  }

  private static boolean accepts(String grammar, String reply) {
    GrammarMatcher matcher = Grammar.lark(grammar).matcher();
    byte[] bytes = reply.getBytes(StandardCharsets.UTF_8);
    return matcher.acceptBytes(bytes) == bytes.length && matcher.canEnd();
  }

  /** A reply with one call in the form in which the model's template writes it. */
  private static String reply(ToolFormat format, String arguments) {
    return reply(format, "write", arguments);
  }

  private static String reply(ToolFormat format, String name, String arguments) {
    String call = Calls.write(format, name, arguments);
    return switch (format) {
      case DEEPSEEK_V3, DEEPSEEK_V31 -> "<｜tool▁calls▁begin｜>" + call + "<｜tool▁calls▁end｜>";
      case DEEPSEEK_V32 -> "<｜DSML｜function_calls>\n" + call + "\n</｜DSML｜function_calls>";
      case KIMI_K2 -> "<|tool_calls_section_begin|>" + call + "<|tool_calls_section_end|>";
      case QWEN3_CODER -> "<tool_call>\n" + call + "\n</tool_call>";
      case SEED_OSS -> "<seed:tool_call>\n" + call + "\n</seed:tool_call>";
      case MINIMAX_M2 -> "<minimax:tool_call>\n" + call + "\n</minimax:tool_call>";
      case COHERE ->
          call.replace("[{\"name", "[\n{\"tool_name")
              .replace("arguments", "parameters")
              .replace("]<|END", "\n]<|END");
      case OLMO3 -> call.replace("calls>" + name, "calls>\n" + name).replace(")<", ")\n<");
      default -> call;
    };
  }

  @ParameterizedTest
  @EnumSource
  void acceptsCallsInTheModelsFormThatMeetTheSchemaAlone(ToolFormat format) {
    String grammar = grammar(format, true, WRITE, new Tool("now", Map.of(), false));
    assertThat(accepts(grammar, reply(format, LINES))).isTrue();
    assertThat(accepts(grammar, reply(format, "{\"lines\": [1, \"x\"]}"))).isFalse();
    assertThat(accepts(grammar, reply(format, LINES).replace("write", "fly"))).isFalse();
    assertThat(accepts(grammar, "Hello")).isFalse();
    assertThat(accepts(grammar, "")).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void letsTextStandBeforeCallsThatAreNotRequired(ToolFormat format) {
    String grammar = grammar(format, false, WRITE);
    boolean harmony = format == ToolFormat.HARMONY;
    assertThat(accepts(grammar, harmony ? "<|channel|>final<|message|>Hello" : "Hello <b>"))
        .isTrue();
    assertThat(accepts(grammar, reply(format, LINES))).isTrue();
    assertThat(accepts(grammar, reply(format, "{\"lines\": 7}"))).isFalse();
    if (!format.leads() && !harmony) {
      assertThat(accepts(grammar, "So: " + reply(format, LINES))).isTrue();
      assertThat(accepts(grammar, "So: " + reply(format, "{\"lines\": 7}"))).isFalse();
    }
  }

  @Test
  void takesSeveralCallsOnlyIfTheyMayBeParallel() {
    String two = reply(ToolFormat.HERMES, LINES) + "\n" + reply(ToolFormat.HERMES, LINES);
    ReplyFormat format = new ReplyFormat(ToolFormat.HERMES, null);
    assertThat(accepts(format.grammar(List.of(WRITE), true, true, ""), two)).isTrue();
    assertThat(accepts(format.grammar(List.of(WRITE), true, false, ""), two)).isFalse();
  }

  @Test
  void leavesReasoningFree() {
    String call = reply(ToolFormat.HERMES, LINES);
    String asked = THINKING.grammar(List.of(WRITE), true, true, "");
    assertThat(accepts(asked, call)).isTrue();
    assertThat(accepts(asked, "<think>\nA <tool_call>?\n</think>\n\n" + call)).isTrue();
    String opened = THINKING.grammar(List.of(WRITE), true, true, "<think>\n");
    assertThat(accepts(opened, "Hm.</think>" + call)).isTrue();
    assertThat(accepts(opened, call)).isFalse();
    String free = THINKING.grammar(List.of(WRITE), false, true, "");
    assertThat(accepts(free, "<think>\n<tool_call>\n</think>\n\nHello")).isTrue();
    assertThat(accepts(free, "<tool_call>Hello")).isFalse();
  }

  @Test
  void holdsTheChannelsOfHarmony() {
    ReplyFormat format = new ReplyFormat(ToolFormat.HARMONY, null);
    String call = "<|channel|>commentary to=functions.write <|constrain|>json<|message|>" + LINES;
    String next = "<|end|><|start|>assistant";
    String thought = "<|channel|>analysis<|message|>Hm <b>." + next;
    String told = "<|channel|>commentary<|message|>I write." + next;
    String schema = "{\"type\":\"object\"}";
    String asked = format.grammar(List.of(WRITE), true, true, "");
    assertThat(accepts(asked, call)).isTrue();
    assertThat(accepts(asked, thought + thought + call + "<|call|>")).isTrue();
    assertThat(accepts(asked, call + "<|call|><|start|>assistant" + call)).isTrue();
    assertThat(accepts(asked, told + call)).isFalse();
    assertThat(accepts(asked, call.replace("[1, 2]", "1"))).isFalse();
    String free = format.grammar(List.of(WRITE), false, false, "");
    assertThat(accepts(free, thought + told + call)).isTrue();
    assertThat(accepts(free, thought + "<|channel|>final<|message|>Done")).isTrue();
    assertThat(accepts(free, call + "<|call|><|start|>assistant" + call)).isFalse();
    String either = format.grammar(List.of(WRITE), false, true, schema, "");
    assertThat(accepts(either, thought + call)).isTrue();
    assertThat(accepts(either, thought + "<|channel|>final<|message|>{}")).isTrue();
    assertThat(accepts(either, "<|channel|>final <|constrain|>json<|message|>{}")).isTrue();
    assertThat(accepts(either, "<|channel|>final<|message|>Done")).isFalse();
    assertThat(accepts(either, "{}")).isFalse();
  }

  @Test
  void holdsFunctionsThatAreNotStrictToTheFormAlone() {
    Tool loose = new Tool("write", WRITE.parameters(), false);
    String call = reply(ToolFormat.HERMES, "{\"lines\": 7}");
    assertThat(accepts(grammar(ToolFormat.HERMES, false, loose), call)).isTrue();
    assertThat(accepts(grammar(ToolFormat.HERMES, true, loose), call)).isFalse();
    String tags = reply(ToolFormat.QWEN3_CODER, "{\"lines\": 7}");
    assertThat(accepts(grammar(ToolFormat.QWEN3_CODER, false, loose), tags)).isTrue();
  }

  @Test
  void writesTextsAndValuesOfTagsAsTheirTypesWant() {
    Tool tool =
        strict(
            "f",
            List.of("a", "c"),
            "a",
            type("string"),
            "b",
            Map.of("enum", List.of("x", "y")),
            "c",
            Map.of("$ref", "#/$defs/Flag"));
    ((Map<String, Object>) tool.parameters()).put("$defs", Map.of("Flag", type("boolean")));
    String grammar = grammar(ToolFormat.QWEN3_CODER, true, tool);
    String a = "<parameter=a>\n\"1\" < 2\n\n</parameter>\n";
    String b = "<parameter=b>\nx\n</parameter>\n";
    String c = "<parameter=c>\ntrue\n</parameter>\n";
    assertThat(accepts(grammar, call(a + b + c))).isTrue();
    assertThat(accepts(grammar, call(a + c))).isTrue();
    assertThat(accepts(grammar, call(a + b))).isFalse();
    assertThat(accepts(grammar, call(a + b.replace("x", "z") + c))).isFalse();
    assertThat(accepts(grammar, call(a + c.replace("true", "maybe")))).isFalse();
  }

  private static String call(String parameters) {
    return "<tool_call>\n<function=f>\n" + parameters + "</function>\n</tool_call>";
  }

  @ParameterizedTest
  @EnumSource
  void holdsATextToItsSchemaInEachForm(ToolFormat format) {
    List<Map<String, ?>> schemas =
        List.of(
            Map.of("type", "string", "pattern", "^a+$"),
            Map.of("type", "string", "maxLength", 3, "not", Map.of("pattern", "b")),
            Map.of("type", List.of("string", "null"), "pattern", "^a+$"),
            Map.of("anyOf", List.of(Map.of("type", "string", "pattern", "^a+$"), type("null"))),
            Map.of("type", "string", "allOf", List.of(Map.of("pattern", "^a+$"))),
            Map.of("type", "string", "enum", List.of("aa", "b")));
    for (Map<String, ?> schema : schemas) {
      String grammar = grammar(format, true, strict("f", List.of("lines"), "lines", schema));
      assertThat(accepts(grammar, text(format, "aa"))).as("%s", schema).isTrue();
      assertThat(accepts(grammar, text(format, "aab"))).as("%s", schema).isFalse();
    }
  }

  /** A reply with one call of {@code f}, whose argument is a string. */
  private static String text(ToolFormat format, String value) {
    String reply = reply(format, "f", "{\"lines\": \"" + value + "\"}");
    String quoted =
        switch (format) {
          case QWEN3_CODER, SEED_OSS, GLM45, MINIMAX_M2, DEEPSEEK_V32 -> value;
          case GEMMA4 -> "<|\"|>" + value + "<|\"|>";
          case FUNCTIONGEMMA -> "<escape>" + value + "<escape>";
          default -> "\"" + value + "\"";
        };
    return reply
        .replace("\"" + value + "\"", quoted)
        .replace("string=\"false\"", "string=\"true\"");
  }

  @Test
  void allowsOtherTypesNextToATextThatIsHeldToItsSchema() {
    Map<String, ?> schema = Map.of("type", List.of("string", "integer", "null"), "pattern", "^a+$");
    String grammar = grammar(ToolFormat.QWEN3_CODER, true, strict("f", List.of("a"), "a", schema));
    for (String value : List.of("aa", "7", "null")) {
      assertThat(accepts(grammar, call("<parameter=a>\n" + value + "\n</parameter>\n"))).isTrue();
    }
    for (String value : List.of("ab", "7.5", "true", "\"aa\"")) {
      assertThat(accepts(grammar, call("<parameter=a>\n" + value + "\n</parameter>\n"))).isFalse();
    }
  }

  @Test
  void refusesByNameAKeywordOfATextThatIsNotServed() {
    Tool tool = strict("f", List.of(), "a", Map.of("type", "string", "pattern", "(?<x>a)\\k<x>"));
    assertThatThrownBy(() -> Grammar.lark(grammar(ToolFormat.QWEN3_CODER, true, tool)))
        .hasMessageContaining("pattern")
        .hasMessageContaining("the function f");
    Tool loose = new Tool("f", tool.parameters(), false);
    String grammar = grammar(ToolFormat.QWEN3_CODER, true, loose);
    assertThat(accepts(grammar, call("<parameter=a>\nx\n</parameter>\n"))).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void acceptsOnlyRepliesThatAreReadAsCalls(ToolFormat format) {
    Tool text = strict("text", List.of("a"), "a", type("string"), "b", type("boolean"));
    List<Tool> tools = List.of(WRITE, text);
    Grammar grammar = Grammar.lark(new ReplyFormat(format, null).grammar(tools, true, true, ""));
    int ended = 0;
    for (int seed = 0; seed < 6; seed++) {
      String reply = walk(grammar.matcher(), new Random(seed));
      if (reply != null) {
        ended++;
        ReplyParser parser = new ReplyFormat(format, null).parser(tools, "");
        List<ReplyPart> parts = Replies.merge(Replies.parse(parser, List.of(reply)));
        assertThat(parts).as(reply).isNotEmpty();
        assertThat(parts).as(reply).filteredOn(p -> p.kind() == PartKind.CONTENT).isEmpty();
        assertThat(parts)
            .as(reply)
            .filteredOn(p -> p.kind() == PartKind.ARGUMENTS)
            .isNotEmpty()
            .allSatisfy(p -> assertThat(JSON.readTree(p.text()).isObject()).isTrue());
      }
    }
    assertThat(ended).isPositive();
  }

  /** Goes a random way through a grammar; null if it does not end soon. */
  private static String walk(GrammarMatcher matcher, Random random) {
    ByteArrayOutputStream reply = new ByteArrayOutputStream();
    while (reply.size() < 500) {
      boolean mayEnd = matcher.canEnd();
      if (mayEnd && random.nextInt(3) == 0) {
        return reply.toString(StandardCharsets.UTF_8);
      }
      if (random.nextInt(8) == 0) {
        for (String end : ENDS) {
          byte[] bytes = end.getBytes(StandardCharsets.UTF_8);
          reply.write(bytes, 0, matcher.acceptBytes(bytes));
        }
        continue;
      }
      List<Integer> bytes = new ArrayList<>();
      for (int b = 33; b < 127; b++) {
        bytes.add(b);
      }
      Collections.shuffle(bytes, random);
      // Ends of values come early, so that the walk ends; white space comes last.
      "</\"}])".chars().forEach(c -> bytes.add(random.nextInt(20), c));
      bytes.addAll(List.of((int) '\n', (int) ' '));
      for (int b = 128; b < 256; b++) {
        bytes.add(b);
      }
      int before = reply.size();
      for (int b : bytes) {
        byte[] one = {(byte) b};
        if (matcher.acceptBytes(one) == 1) {
          reply.write(b);
          break;
        }
      }
      if (reply.size() == before) {
        assertThat(mayEnd).as(reply.toString(StandardCharsets.UTF_8)).isTrue();
        return reply.toString(StandardCharsets.UTF_8);
      }
    }
    return null;
  }
}
