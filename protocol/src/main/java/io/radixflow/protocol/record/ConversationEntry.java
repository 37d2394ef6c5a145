package io.radixflow.protocol.record;

/**
 * An entry of the conversation index, which has one for each session; a Flink POJO.
 *
 * @param tenant owner, empty for the default tenant
 * @param title the beginning of the first text of the user, at most {@link #TITLE_CODE_POINTS} long
 *     and empty if there is none; null if the entry is a tombstone
 * @param created when the first turn was accepted, milliseconds since the epoch
 * @param updated when the last turn ended, milliseconds since the epoch
 * @param turns turns of the branch that the last turn is on
 * @param model name of the model that made the last reply; null in a tombstone
 */
public record ConversationEntry(
    String tenant,
    String session,
    String title,
    long created,
    long updated,
    int turns,
    String model) {

  /** The most code points of a title. */
  public static final int TITLE_CODE_POINTS = 80;

  /** More text is not looked at, even if it begins with white space. */
  private static final int READ_CODE_POINTS = 1_000;

  /** Returns the entry that removes a session from the index. */
  public static ConversationEntry tombstone(String tenant, String session) {
    return new ConversationEntry(tenant, session, null, 0, 0, 0, null);
  }

  /** Returns the title that a text gives: its beginning, on one line. */
  public static String title(String text) {
    String line = beginning(text, READ_CODE_POINTS).replaceAll("\\s+", " ").strip();
    return beginning(line, TITLE_CODE_POINTS).strip();
  }

  private static String beginning(String text, int codePoints) {
    return text.codePoints()
        .limit(codePoints)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }
}
