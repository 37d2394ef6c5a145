package io.radixflow.operators.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.SessionRef;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.Turn;
import io.radixflow.operators.session.TurnOptions;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Prompts of an agent's turns with templates of the forms that families of models have: each begins
 * with the one before and its reply as generated, or with what the cache was told.
 */
class PrefixStabilityTest {
  private static final String TOOLS =
      "[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":"
          + "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}}}}}]";

  private static final String CHATML_TOOLS =
      """
      {%- if tools %}{{- '<|im_start|>system\\nTools: ' + (tools | tojson) + '<|im_end|>\\n' }}{%- endif %}
      """;

  private static final String CHATML_CALLS =
      """
      {{- m.content or '' }}
      {%- for c in m.tool_calls or [] %}
      {{- ('\\n' if m.content or not loop.first else '') + '<tool_call>\\n{"name": "' + c.function.name }}
      {{- '", "arguments": ' + (c.function.arguments | tojson) + '}\\n</tool_call>' }}
      {%- endfor %}
      {{- '<|im_end|>\\n' }}
      """;

  private static final String CHATML_OTHERS =
      """
      {%- elif m.role == 'tool' %}
      {{- '<|im_start|>user\\n<tool_response>\\n' + m.content + '\\n</tool_response><|im_end|>\\n' }}
      {%- else %}
      {{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}
      {%- endif %}
      {%- endfor %}
      {%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
      """;

  /** Sets {@code ns.last} to the index of the last message of the user. */
  private static final String LAST_QUESTION =
      """
      {%- set ns = namespace(last=-1) %}
      {%- for m in messages %}{%- if m.role == 'user' %}{%- set ns.last = loop.index0 %}{%- endif %}{%- endfor %}
      """;

  private static final List<String> CHATML = List.of("<|im_start|>", "<|im_end|>");
  private static final List<String> LLAMA =
      List.of("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>");
  private static final List<String> MISTRAL_TOKENS =
      List.of("[INST]", "[/INST]", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "</s>");
  private static final List<String> CHANNELS =
      List.of(
          "<|start|>",
          "<|end|>",
          "<|message|>",
          "<|channel|>",
          "<|constrain|>",
          "<|return|>",
          "<|call|>");

  private enum Family {
    HERMES(
        CHATML,
        "<|im_end|>",
        CHATML_TOOLS
            + "{%- for m in messages %}{%- if m.role == 'assistant' %}"
            + "{{- '<|im_start|>assistant\\n' }}"
            + CHATML_CALLS
            + CHATML_OTHERS,
        "I look.\n<tool_call>\n{\"name\":\"f\", \"arguments\": {\"a\":1 }}\n</tool_call><|im_end|>",
        "It is 7.<|im_end|>",
        true),

    /** Keeps the reasoning of replies after the last question alone. */
    QWEN3(
        CHATML,
        "<|im_end|>",
        CHATML_TOOLS
            + LAST_QUESTION
            + """
            {%- for m in messages %}
            {%- if m.role == 'assistant' %}
            {{- '<|im_start|>assistant\\n' }}
            {%- if m.reasoning_content and loop.index0 > ns.last %}
            {{- '<think>\\n' + m.reasoning_content.strip('\\n') + '\\n</think>\\n\\n' }}
            {%- endif %}
            """
            + CHATML_CALLS
            + CHATML_OTHERS,
        "<think>\nHm.\n</think>\n\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\":1}}\n"
            + "</tool_call><|im_end|>",
        "<think>\nSo.\n</think>\n\nIt is 7.<|im_end|>",
        false),

    LLAMA3(
        LLAMA,
        "<|eot_id|>",
        """
        {%- for m in messages %}
        {%- if m.tool_calls %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n{"name": "' + m.tool_calls[0].function.name }}
        {{- '", "parameters": ' + (m.tool_calls[0].function.arguments | tojson) + '}<|eot_id|>' }}
        {%- else %}
        {{- '<|start_header_id|>' + ('ipython' if m.role == 'tool' else m.role) + '<|end_header_id|>\\n\\n' }}
        {%- if tools and loop.first %}{{- 'Respond with {"name": , "parameters": }: ' + (tools | tojson) }}{%- endif %}
        {{- m.content + '<|eot_id|>' }}
        {%- endif %}
        {%- endfor %}
        {%- if add_generation_prompt %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
        {%- endif %}
        """,
        "{\"name\": \"f\", \"parameters\": {\"a\":1}}<|eom_id|>",
        "It is 7.<|eot_id|>",
        true),

    /** Writes the tools before the last question alone. */
    MISTRAL(
        MISTRAL_TOKENS,
        "</s>",
        LAST_QUESTION
            + """
            {%- for m in messages %}
            {%- if m.role == 'user' %}
            {%- if tools and loop.index0 == ns.last %}{{- '[AVAILABLE_TOOLS]' + (tools | tojson) }}{%- endif %}
            {{- '[INST]' + m.content + '[/INST]' }}
            {%- elif m.tool_calls %}
            {{- '[TOOL_CALLS][{"name": "' + m.tool_calls[0].function.name + '", "arguments": ' }}
            {{- (m.tool_calls[0].function.arguments | tojson) + ', "id": "' + m.tool_calls[0].id + '"}]</s>' }}
            {%- elif m.role == 'tool' %}
            {{- '[TOOL_RESULTS]' + m.content }}
            {%- else %}
            {{- m.content + '</s>' }}
            {%- endif %}
            {%- endfor %}
            """,
        "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"a\":1}}]</s>",
        "It is 7.</s>",
        false),

    /** Leaves the reasoning of replies that are answered out, and ends those in another way. */
    HARMONY(
        CHANNELS,
        "<|return|>",
        """
        {%- for m in messages %}
        {%- if m.tool_calls %}
        {{- '<|start|>assistant to=functions.' + m.tool_calls[0].function.name + '<|channel|>commentary json' }}
        {{- '<|message|>' + (m.tool_calls[0].function.arguments | tojson) + '<|call|>' }}
        {%- elif m.role == 'assistant' %}
        {{- '<|start|>assistant<|channel|>final<|message|>' + m.content }}
        {{- '<|return|>' if loop.last and not add_generation_prompt else '<|end|>' }}
        {%- elif m.role == 'tool' %}
        {{- '<|start|>functions.f to=assistant<|channel|>commentary<|message|>' + m.content + '<|end|>' }}
        {%- else %}
        {{- '<|start|>' + m.role + '<|message|>' + m.content + '<|end|>' }}
        {%- endif %}
        {%- endfor %}
        {%- if add_generation_prompt %}{{- '<|start|>assistant' }}{%- endif %}
        """,
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary"
            + " to=functions.f <|constrain|>json<|message|>{\"a\":1}<|call|>",
        "<|channel|>analysis<|message|>So.<|end|><|start|>assistant<|channel|>final<|message|>"
            + "It is 7.<|return|>",
        false);

    private final List<String> special;
    private final String template;
    private final String call;
    private final String answer;
    private final boolean growsAfterAnswers;
    private final String[] ends;

    /**
     * @param call a reply as generated that calls the function
     * @param answer one that answers
     * @param growsAfterAnswers whether the template keeps all of a conversation that is answered
     */
    Family(
        List<String> special,
        String end,
        String template,
        String call,
        String answer,
        boolean growsAfterAnswers) {
      this.special = special;
      this.template = template;
      this.call = call;
      this.answer = answer;
      this.growsAfterAnswers = growsAfterAnswers;
      this.ends =
          special.stream()
              .filter(token -> List.of(end, "<|call|>", "<|eom_id|>").contains(token))
              .sorted((a, b) -> a.equals(end) ? -1 : b.equals(end) ? 1 : 0)
              .toArray(String[]::new);
    }
  }

  @TempDir Path directory;
  private ThinkingModel model;
  private ReplyReading reading;
  private Conversation conversation = new Conversation(null, 0, List.of());
  private final TurnOptions options =
      TurnOptions.resolve(List.of(GenerationOptions.builder().tools(TOOLS).build()), 0, 100);

  /** The next prompt as the cache expects it; null for prompt and reply as they are. */
  private int[] told;

  /** The last prompt and its reply as generated. */
  private int[] before;

  private int[] ids(String text) {
    return model.tokenizer().encodeWithSpecial(text);
  }

  private String text(int[] ids) {
    StringBuilder text = new StringBuilder();
    IntStream.of(ids).forEach(id -> text.append(id < 256 ? "" + (char) id : "<" + id + ">"));
    return text.toString();
  }

  /** Runs a turn as the operator does; returns its prompt. */
  private Prompt turn(Message message, String reply) throws Exception {
    List<Message> added = List.of(message);
    PromptAssembly assembly =
        new PromptAssembly(
            model.tokenizer(),
            reading.template(),
            conversation,
            added,
            options.prompt(),
            new PromptAssembly.Window(100_000, 1, 1_000, true));
    assembly.ids();
    Prompt prompt = assembly.prompt();
    int[] generated = ids(reply);
    SessionRef.NextPrompt next =
        new NextPrompts(reading)
            .after(
                () -> prompt,
                conversation,
                added,
                options,
                made -> reading.parts(options.prompt(), made.ids(), "s", "t"));
    told = next.ids(generated);
    ReplyParts parts = reading.parts(options.prompt(), prompt.ids(), "s", "t");
    StringBuilder said = new StringBuilder();
    IntStream.of(generated)
        .forEach(
            id -> {
              String mark = model.tokenizer().markup().get(id);
              said.append(mark != null ? mark : id < 256 ? "" + (char) id : "");
            });
    parts.accept(said.toString());
    parts.finish(false);
    int[] canonical = new CanonicalReply(model).ids(generated, said.toString(), parts.calls());
    before = concat(prompt.ids(), canonical);
    List<Turn> path = new ArrayList<>(conversation.path());
    long id = conversation.depth() + 1;
    path.add(
        new Turn(
            id,
            id - 1,
            conversation.depth(),
            "t" + id,
            "t" + id,
            added,
            null,
            0,
            parts.message(),
            "stop",
            null,
            prompt.keep(),
            Arrays.copyOfRange(before, prompt.keep(), before.length),
            prompt.tokenizer(),
            options.prompt().identity(),
            prompt.dropped(),
            Turn.ROOT,
            null,
            false));
    conversation = Conversation.of(null, path);
    return prompt;
  }

  private static int[] concat(int[] first, int[] second) {
    return IntStream.concat(IntStream.of(first), IntStream.of(second)).toArray();
  }

  private Message result() {
    ToolCall call = conversation.path().get(conversation.depth() - 1).reply().toolCalls().get(0);
    return new Message("tool", "7", call.name(), List.of(), call.id(), null);
  }

  @ParameterizedTest
  @EnumSource
  void aPromptBeginsWithTheOneBeforeAndItsReplyOrWithWhatTheCacheWasTold(Family family)
      throws Exception {
    model =
        ThinkingModel.open(
            directory, SimOptions.DEFAULT, family.template, family.special, family.ends);
    reading = new ReplyReading(model);
    turn(new Message("user", "How warm?"), family.call);
    assertThat(conversation.path().get(0).reply().toolCalls()).hasSize(1);
    int[] asked = before;
    assertThat(told).as("nothing changes when the result comes").isNull();
    Prompt answered = turn(result(), family.answer);
    assertThat(text(answered.ids())).startsWith(text(asked));
    assertThat(asked).endsWith(ids(family.call.replace("<|eom_id|>", "<|eot_id|>")));
    assertThat(answered.rewritten()).isZero();
    int[] first = before;
    int[] foreseen = told;
    Prompt more = turn(new Message("user", "And tomorrow?"), family.answer);
    if (family.growsAfterAnswers) {
      assertThat(foreseen).isNull();
      assertThat(text(more.ids())).startsWith(text(first));
      assertThat(more.rewritten()).isZero();
    } else {
      assertThat(foreseen).isNotNull();
      assertThat(text(more.ids())).startsWith(text(foreseen));
      assertThat(foreseen.length).isGreaterThan(more.keep());
      assertThat(more.rewritten()).isEqualTo(first.length - more.keep()).isPositive();
    }
  }
}
