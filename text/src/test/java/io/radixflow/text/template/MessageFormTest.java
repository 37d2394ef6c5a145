package io.radixflow.text.template;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.text.TextModel;
import io.radixflow.text.tokenizer.TinyVocabulary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Conversations as clients and models make them, given to templates that take few values. */
class MessageFormTest {
  private static final List<Object> TOOLS =
      List.of(Map.of("type", "function", "function", Map.of("name", "f", "parameters", Map.of())));

  /** Published templates have each of these constructs. */
  private static final Map<String, String> TEMPLATES = new LinkedHashMap<>();

  static {
    String start = "{% for m in messages %}<{{ m.role }}>";
    String calls = "{% for c in m.tool_calls %}[{{ c.function.name }} ";
    String end = "]{% endfor %}{% endfor %}";
    put(
        "looks into the content",
        start + "{% if '<a>' not in m.content %}{{ m.content }}{% endif %}",
        calls,
        end);
    put("adds the content", start + "{{ m.content + '|' }}", calls, end);
    put(
        "splits the content",
        start + "{{ m.content.split('</t>')[-1].lstrip('\\n') }}",
        calls,
        end);
    put(
        "measures the content",
        start + "{% if m.content | length %}{{ m.content }}{% endif %}",
        calls,
        end);
    put("prints the content", start + "{{ m.content }}", calls, end);
    put("trims the content", start + "{{ m.content | trim }}", calls, end);
    put("strips the content", start + "{{ m.content.strip() }}", calls, end);
    put(
        "calls where the content is none",
        start + "{% if m.content is not none %}{{ m.content }}{% else %}",
        calls,
        "]{% endfor %}{% endif %}{% endfor %}");
    put(
        "loops over parts",
        start + "{% for p in m.content %}{{ p['text'] }}{% endfor %}",
        calls,
        end);
    TEMPLATES.put(
        "has items of arguments",
        start
            + "{{ m.content }}{% for c in m.tool_calls %}[{{ c.function.name }}{% for k, v in"
            + " c.function.arguments | items %} {{ k }}={{ v }}{% endfor %}"
            + end);
    TEMPLATES.put(
        "calls items of arguments",
        start
            + "{{ m.content }}{% for c in m.tool_calls %}[{{ c.function.name }}{% for k, v in"
            + " c.function.arguments.items() %} {{ k }}={{ v }}{% endfor %}"
            + end);
    TEMPLATES.put(
        "loops over keys",
        start
            + "{{ m.content or '' }}{% for c in m.tool_calls %}[{{ c.function.name }}{% for k in"
            + " c.function.arguments %} {{ k }}={{ c.function.arguments[k] }}{% endfor %}"
            + end);
    TEMPLATES.put(
        "adds arguments as a text",
        start
            + "{{ m.content or '' }}{% for c in m.tool_calls %}{{ '[' + c.function.name + ' ' +"
            + " c.function.arguments }}"
            + end);
    TEMPLATES.put(
        "tells texts from objects",
        start
            + "{{ m.content or '' }}{% for c in m.tool_calls %}[{{ c.function.name }}{% if"
            + " c.function.arguments is string %}{{ c.function.arguments }}{% else %}{{"
            + " c.function.arguments | tojson }}{% endif %}"
            + end);
    TEMPLATES.put(
        "wants ids of nine letters",
        start
            + "{{ m.content or '' }}{% for c in m.tool_calls %}{% if c.id | length != 9 %}{{"
            + " raise_exception('nine') }}{% endif %}[{{ c.function.name }}{{ c.function.arguments"
            + " | tojson }}]{% endfor %}{% if m.role == 'tool' and (m.tool_call_id is undefined or"
            + " m.tool_call_id | length != 9) %}{{ raise_exception('nine') }}{% endif %}{% endfor"
            + " %}");
    TEMPLATES.put(
        "wants turns",
        "{% set ns = namespace(user=true) %}{% for m in messages %}{% if m.role == 'system' and not"
            + " loop.first %}{{ raise_exception('system first') }}{% elif m.role == 'user' or"
            + " m.role == 'assistant' and not m.tool_calls %}{% if (m.role == 'user') != ns.user"
            + " %}{{ raise_exception('turns') }}{% endif %}{% set ns.user = not ns.user %}{% elif"
            + " m.role not in ['system', 'tool', 'assistant'] %}{{ raise_exception('role') }}{%"
            + " endif %}{{ m.content or '' }}{% for c in m.tool_calls %}[{{ c.function.name }}{{"
            + " c.function.arguments | tojson }}"
            + end);
    TEMPLATES.put(
        "has no system and no tools",
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{%"
            + " elif (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('turns')"
            + " }}{% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}");
    TEMPLATES.put(
        "wants a call before its result",
        start
            + "{{ m.content or '' }}{% for c in m.tool_calls %}{% if m.content and m.thinking %}{{"
            + " raise_exception('both') }}{% endif %}[{{ c.function.name }}{{ c.function.arguments"
            + " | tojson }}]{% endfor %}{% if m.role == 'tool' and not (loop.previtem and"
            + " (loop.previtem.tool_calls or loop.previtem.role == 'tool')) %}{{"
            + " raise_exception('orphan') }}{% endif %}{% endfor %}");
    TEMPLATES.put(
        "wants names of results",
        start
            + "{{ m.content or '' }}{% for c in m.tool_calls %}[{{ c.function.name }}{{"
            + " c.function.arguments | tojson }}]{% endfor %}{% if m.role == 'tool' %}{{ 'of ' +"
            + " m.name }}{% endif %}{% endfor %}");
    TEMPLATES.put(
        "wants something said",
        start
            + "{% if not m.content and not m.tool_calls and m.role == 'assistant' %}{{"
            + " raise_exception('says nothing') }}{% endif %}{{ m.content or '' }}{% for c in"
            + " m.tool_calls %}[{{ c.function.name }}{{ c.function.arguments | tojson }}"
            + end);
  }

  private static void put(String name, String content, String calls, String end) {
    TEMPLATES.put(name, content + calls + "{{ c.function.arguments | tojson }}" + end);
  }

  private static Map<String, List<Message>> conversations() {
    Map<String, List<Message>> all = new LinkedHashMap<>();
    Message user = new Message("user", "Ask.");
    Message more = new Message("user", "More.");
    Message said = new Message("assistant", "Said.");
    Message done = result("Sunny.");
    for (String content : Arrays.asList(null, "", "Saying.")) {
      for (String thought : Arrays.asList(null, "Thought.")) {
        all.put(
            "call with " + content + " " + thought,
            List.of(user, call(content, thought, "{\"at\": \"Ulm\"}"), done, said, more));
      }
    }
    for (String arguments :
        Arrays.asList(
            null,
            "",
            " ",
            "null",
            "[1, 2]",
            "{\"at\": \"Ul",
            "{\"a\": 1}{\"b\": 2}",
            "{'a': 1}",
            "{\"a\": NaN}",
            "{\"a\": 1e400}",
            "7",
            "\"x\"",
            "x",
            "[".repeat(200),
            "{\"a\":".repeat(200) + "1" + "}".repeat(200))) {
      all.put(
          "arguments " + arguments,
          List.of(
              user, call(null, null, arguments), done, said, more, call(null, null, arguments)));
    }
    all.put("result of null", List.of(user, call(null, null, "{}"), result(null), said, more));
    all.put("result of nothing", List.of(user, call(null, null, "{}"), result(""), said));
    all.put(
        "result without id", List.of(user, call(null, null, "{}"), new Message("tool", "Sunny.")));
    all.put("result alone", List.of(done, said, more));
    all.put("call without result", List.of(user, call(null, null, "{}"), more));
    all.put(
        "system in the middle",
        List.of(
            new Message("system", "Be."),
            user,
            new Message("system", "Be more."),
            said,
            more,
            new Message("system", "Be most.")));
    all.put("two users", List.of(user, more, said, more, user));
    all.put("two assistants", List.of(user, said, said, more));
    all.put("assistant first", List.of(said, more));
    all.put("nothing said", List.of(user, new Message("assistant", ""), more));
    all.put(
        "only thought",
        List.of(user, new Message("assistant", "", null, null, null, "Thought."), more));
    all.put("developer", List.of(new Message("developer", "Be."), user));
    all.put("another role", List.of(new Message("critic", "Bad."), user));
    all.put("system alone", List.of(new Message("system", "Be.")));
    return all;
  }

  private static Message call(String content, String thought, String arguments) {
    List<ToolCall> calls =
        List.of(
            new ToolCall("call_0123456789", "f", arguments),
            new ToolCall("call_0123456780", "g", "{\"k\": \"v\"}"));
    return new Message("assistant", content, null, calls, null, thought);
  }

  private static Message result(String content) {
    return new Message("tool", content, null, List.of(), "call_0123456789", null);
  }

  static Stream<Arguments> pairs() {
    List<Arguments> pairs = new ArrayList<>();
    TEMPLATES.forEach(
        (name, source) ->
            conversations()
                .forEach(
                    (what, messages) -> pairs.add(Arguments.of(name, what, source, messages))));
    return pairs.stream();
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("pairs")
  void noTemplateRefusesAConversationOrShowsNone(
      String name, String what, String source, List<Message> messages) {
    ChatTemplate template = template(source);
    TemplateOptions options = new TemplateOptions(TOOLS, Map.of());
    String prompt = template.render(messages, true, options);
    assertThat(prompt).doesNotContain("None");
    boolean showsCalls = source.contains("tool_calls");
    for (Message message : messages) {
      boolean says = message.content() != null && !message.content().isEmpty();
      assertThat(prompt).contains(says ? message.content() : "");
      if (showsCalls && !says) {
        message.toolCalls().forEach(call -> assertThat(prompt).contains(call.name()));
      }
    }
    assertThat(template.encode(messages, true, options)).isNotEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        // what other servers give the template for the second argument
        "tells texts from objects # `{\"at\": 1.0}` # [f{\"at\": 1.0}]",
        "tells texts from objects # `{\"at\":` # [f{\"at\":]",
        "tells texts from objects # `[1,2]` # `[f[1, 2]]`",
        "tells texts from objects # `` # [f{}]",
        "tells texts from objects # null # [f{}]",
        "has items of arguments # `{\"at\": \"Ulm\"}` # `[f at=Ulm]`",
        "has items of arguments # `{\"at\":` # [f]",
        "has items of arguments # `[1,2]` # [f]",
        "loops over keys # `{\"at\": \"Ulm\"}` # `[f at=Ulm]`",
        "loops over keys # `{\"at\":` # [f]",
        "adds arguments as a text # `{\"at\": \"Ulm\"}` # `[f {\"at\": \"Ulm\"}]`",
        "adds arguments as a text # `` # `[f {}]`",
      })
  void argumentsAreWhatTheTemplateTakes(String name, String arguments, String expected) {
    List<ToolCall> calls = List.of(new ToolCall("c", "f", arguments));
    Message call = new Message("assistant", null, null, calls, null, null);
    assertThat(
            template(TEMPLATES.get(name))
                .render(List.of(new Message("user", "Ask."), call), false, TemplateOptions.NONE))
        .endsWith(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      value = {
        "{{ m.content | tojson }} # null",
        "{% if m.content is none %}calls{% else %}{{ m.content }}{% endif %} # calls",
        "{% if m.content is string %}text{% else %}no text{% endif %} # no text",
      })
  void aTemplateThatKnowsNullGetsNull(String content, String expected) {
    List<ToolCall> calls = List.of(new ToolCall("c", "f", "{}"));
    Message call = new Message("assistant", null, null, calls, null, null);
    String source =
        "{% for m in messages %}{% if m.tool_calls %}" + content + "{% endif %}{% endfor %}";
    assertThat(
            template(source)
                .render(List.of(new Message("user", "Ask."), call), false, TemplateOptions.NONE))
        .isEqualTo(expected);
  }

  private static ChatTemplate template(String source) {
    return TextModel.fromGguf(
            TinyVocabulary.get()
                .header("smollm")
                .with("tokenizer.chat_template", source)
                .metadata())
        .chatTemplate();
  }
}
