package io.radixflow.text.template;

import io.radixflow.text.template.MessageForm.Arguments;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Finds the form of messages that a chat template needs. It renders small conversations in each
 * form and searches the output for their texts. It does not depend on names of models or templates.
 */
final class FormProbe {
  private static final String SAID = "zfsaid";
  private static final String FUNCTION = "zfcall";
  private static final String KEY = "zfkey";
  private static final String VALUE = "zfvalue";
  private static final String LONG_ID = "call_0123456789abcdef01234567";
  private static final List<?> TOOLS =
      List.of(
          Map.of(
              "type",
              "function",
              "function",
              Map.of(
                  "name",
                  FUNCTION,
                  "description",
                  "",
                  "parameters",
                  Map.of(
                      "type",
                      "object",
                      "properties",
                      Map.of(KEY, Map.of("type", "string", "description", "")),
                      "required",
                      List.of(KEY)))));

  private final JinjaRenderer renderer;
  private MessageForm form = MessageForm.USUAL;

  private FormProbe(JinjaRenderer renderer) {
    this.renderer = renderer;
  }

  /**
   * Returns the form of a template. Properties that cannot be found are as in {@link
   * MessageForm#USUAL}.
   */
  static MessageForm of(JinjaRenderer renderer) {
    FormProbe probe = new FormProbe(renderer);
    try {
      probe.findForm();
    } catch (ChatTemplateException e) {
      // The template runs too long. Rendering the prompt will report the same error.
      return MessageForm.USUAL;
    }
    return probe.form;
  }

  private void findForm() {
    form = form.withParts(needsParts());
    boolean developer = renderer.source().contains("developer") && knows("developer", "system");
    form = form.withRoles(developer, knows("zfrole", "user"));
    form = form.withShortIds(needsShortIds());
    form = form.withEmptyText(needsEmptyText());
    form = form.with(arguments());
  }

  private boolean needsParts() {
    List<Message> messages = List.of(new Message("user", SAID));
    return !shows(render(messages, form, null), SAID)
        && shows(render(messages, form.withParts(true), null), SAID);
  }

  /** Returns whether the template shows a role, or shows neither this role nor {@code instead}. */
  private boolean knows(String role, String instead) {
    return showsRole(role) || !showsRole(instead);
  }

  private boolean showsRole(String role) {
    Message other = new Message("user", "zfother");
    Message said = new Message(role, SAID);
    List<Message> messages =
        role.equals("user") || role.equals("zfrole") ? List.of(other, said) : List.of(said, other);
    return shows(render(messages, form, null), SAID);
  }

  private boolean needsShortIds() {
    for (boolean empty : new boolean[] {true, false}) {
      MessageForm tried = form.withEmptyText(empty);
      List<Message> messages = conversation(LONG_ID, null, true);
      if (render(messages, tried, TOOLS) == null) {
        if (render(messages, tried.withShortIds(true), TOOLS) != null) {
          return true;
        }
      }
    }
    return false;
  }

  /** Templates are written for null, so it is kept if the template can handle it. */
  private boolean needsEmptyText() {
    boolean known = false;
    for (String reasoning : new String[] {null, "zfthought"}) {
      for (boolean answered : new boolean[] {true, false}) {
        List<Message> messages = conversation(LONG_ID, reasoning, answered);
        String empty = render(messages, form, TOOLS);
        String none = render(messages, form.withEmptyText(false), TOOLS);
        if (empty != null && (none == null || count("None", none) > count("None", empty))) {
          return true;
        }
        known |= none != null;
      }
    }
    return !known;
  }

  private Arguments arguments() {
    List<Message> messages = conversation(LONG_ID, null, true);
    String object = render(messages, form.with(Arguments.OBJECT), TOOLS);
    String text = render(messages, form.with(Arguments.TEXT), TOOLS);
    if (!shows(text, VALUE)) {
      return shows(object, VALUE) ? Arguments.OBJECT : Arguments.VALUE_OR_TEXT;
    }
    boolean python = shows(object, "'" + KEY + "'") && !shows(text, "'" + KEY + "'");
    return shows(object, VALUE) && !python ? Arguments.VALUE_OR_TEXT : Arguments.TEXT;
  }

  private static List<Message> conversation(String id, String reasoning, boolean answered) {
    String arguments = "{\"" + KEY + "\": \"" + VALUE + "\"}";
    List<ToolCall> calls = List.of(new ToolCall(id, FUNCTION, arguments));
    List<Message> messages = new ArrayList<>();
    messages.add(new Message("user", SAID));
    messages.add(new Message("assistant", null, null, calls, null, reasoning));
    if (answered) {
      messages.add(new Message("tool", SAID, null, List.of(), id, null));
    }
    return messages;
  }

  /**
   * Returns the prompt; null if the template fails.
   *
   * @throws ChatTemplateException if the template exceeds a bound
   */
  private String render(List<Message> messages, MessageForm given, List<?> tools) {
    try {
      TemplateOptions options = new TemplateOptions(tools, Map.of());
      return renderer.prompt(PromptVariables.of(messages, options, given), true);
    } catch (ChatTemplateException e) {
      if (e.isLimit()) {
        throw e;
      }
      return null;
    }
  }

  private static boolean shows(String text, String part) {
    return text != null && text.contains(part);
  }

  private static int count(String part, String text) {
    int count = 0;
    for (int at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
      count++;
    }
    return count;
  }
}
