package io.radixflow.protocol.json;

import io.radixflow.text.template.Message;
import java.util.List;
import java.util.regex.Pattern;

/** Reads the role of a message. */
public final class Roles {
  /** The roles that chat templates know. Any other role is passed to the template unchanged. */
  public static final List<String> KNOWN =
      List.of("system", "developer", "user", "assistant", "tool");

  /** The pattern of a role, and of a speaker's name. */
  public static final String NAME = "[a-zA-Z0-9_.-]{1,64}";

  private static final Pattern PATTERN = Pattern.compile(NAME);

  private Roles() {}

  /**
   * Returns the field {@code role}.
   *
   * @throws InvalidInputException if the role is missing, or is not a name
   */
  public static String of(JsonObject message) {
    String role = message.require("role").text("role");
    // in an event this role marks a prompt that is not a message
    if (!isName(role) || role.equals(Message.PROMPT)) {
      throw new InvalidInputException(
          "%s is %s; it must be one of %s, or another name that matches %s"
              .formatted(message.path("role"), Texts.quote(role), String.join(", ", KNOWN), NAME));
    }
    return role;
  }

  /** Returns whether a text can be the name of a speaker. */
  public static boolean isName(String text) {
    return PATTERN.matcher(text).matches();
  }
}
