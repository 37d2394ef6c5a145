package io.radixflow.text.template;

import java.util.ArrayList;
import java.util.List;

/**
 * The form in which a chat template takes what templates read in different ways. {@link FormProbe}
 * finds the form of a template.
 *
 * @param parts whether a content is a list of parts; otherwise it is a text
 * @param developer whether there is the role {@code developer}; otherwise it is {@code system}
 * @param anyRole whether roles that few templates know stay; otherwise they are {@code user}
 * @param shortIds whether the id of a call has nine letters and digits
 * @param emptyText whether a call without a content gets an empty content; otherwise it gets null
 * @param arguments what the arguments of a call are
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

  /** What a template gets as the arguments of a call. */
  enum Arguments {
    /** The value that the text spells as JSON; the text if it spells none. */
    VALUE_OR_TEXT,
    /** The object that the text spells; an empty object if it spells none. */
    OBJECT,
    /** The text. */
    TEXT
  }

  /** A change of a conversation that the template otherwise refuses. */
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

  /** Returns this form, then the forms to try if the template fails, the least changed first. */
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
