package io.radixflow.protocol.event;

import io.radixflow.protocol.json.Roles;
import java.util.Collection;
import java.util.Map;
import java.util.Set;

/** The forms of messages: the names and tolerances by which they differ. */
public enum MessageForm {
  /** Messages of events. A field or part that is not known is refused. */
  EVENT("parts", 1000, "", Map.of(), null),

  /** Messages of chat completions. */
  CHAT("parts", 10_000, "", Map.of("developer", "system", "function", "tool"), Roles.KNOWN),

  /** Items of OpenAI's responses. */
  ITEMS("parts", 10_000, "", Map.of("developer", "system"), Roles.KNOWN),

  /** Messages of Anthropic. Claude Code sends a system message after the first message. */
  BLOCKS(
      "blocks",
      10_000,
      "\n\n",
      Map.of("developer", "system"),
      Set.of("user", "assistant", "system"));

  /** The name of the parts of a content, for messages. */
  final String parts;

  final int maxParts;

  /** The text between the texts of two parts. */
  final String between;

  /** Roles that have another name in events. */
  final Map<String, String> renamed;

  /** Roles that need no notice; null if no role needs a notice. */
  final Collection<String> roles;

  MessageForm(
      String parts,
      int maxParts,
      String between,
      Map<String, String> renamed,
      Collection<String> roles) {
    this.parts = parts;
    this.maxParts = maxParts;
    this.between = between;
    this.renamed = renamed;
    this.roles = roles;
  }
}
