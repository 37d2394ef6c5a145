package io.radixflow.text.template;

import java.util.ArrayList;
import java.util.List;

/**
 * The form of messages that a chat template needs, because templates read some values in different
 * ways. {@link FormProbe} finds the form of a template.
 *
 * @param parts whether the content of a message is a list of parts; if not, it is a string
 * @param developer whether the role {@code developer} is kept; if not, it becomes {@code system}
 * @param anyRole whether roles that few templates know are kept; if not, they become {@code user}
 * @param shortIds whether the id of a call has nine letters and digits
 * @param emptyText whether the content of a message with only calls is an empty string; if not, it
 *     is null
 * @param arguments the type of a call's arguments
 * @param repair the change that makes the template accept the conversation
 */
record MessageForm(
    boolean parts,
    boolean developer,
    boolean anyRole,
    boolean shortIds,
    boolean emptyText,
    Arguments arguments,
    Repair repair) {

  /** The type of a call's arguments in a template. */
  enum Arguments {
    /** The JSON value of the text; the text itself if it is not JSON. */
    VALUE_OR_TEXT,
    /** The JSON object of the text; an empty object if it is not an object. */
    OBJECT,
    /** The text. */
    TEXT
  }

  /** A change to a conversation that the template otherwise rejects. */
  enum Repair {
    NONE,
    /** See {@link MessageRepair#roles}. */
    ROLES,
    /** See {@link MessageRepair#plain}. */
    PLAIN
  }

  static final MessageForm USUAL =
      new MessageForm(false, true, true, false, true, Arguments.VALUE_OR_TEXT, Repair.NONE);

  MessageForm withParts(boolean value) {
    return new MessageForm(value, developer, anyRole, shortIds, emptyText, arguments, repair);
  }

  MessageForm withRoles(boolean developers, boolean any) {
    return new MessageForm(parts, developers, any, shortIds, emptyText, arguments, repair);
  }

  MessageForm withShortIds(boolean value) {
    return new MessageForm(parts, developer, anyRole, value, emptyText, arguments, repair);
  }

  MessageForm withEmptyText(boolean value) {
    return new MessageForm(parts, developer, anyRole, shortIds, value, arguments, repair);
  }

  MessageForm with(Arguments value) {
    return new MessageForm(parts, developer, anyRole, shortIds, emptyText, value, repair);
  }

  MessageForm with(Repair value) {
    return new MessageForm(parts, developer, anyRole, shortIds, emptyText, arguments, value);
  }

  /**
   * Returns this form, then the forms to try if the template fails, ordered by how much they
   * change.
   */
  List<MessageForm> attempts() {
    List<MessageForm> forms = new ArrayList<>();
    for (Repair each : Repair.values()) {
      MessageForm form = with(each);
      forms.add(form);
      forms.add(form.withEmptyText(!emptyText));
      forms.add(form.with(Arguments.OBJECT));
      forms.add(form.with(Arguments.TEXT));
    }
    return forms;
  }
}
