package io.radixflow.protocol.topic;

import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.ConversationEntry;

/** Writes the entries of the conversation index, in the form of docs/replies.md. */
public final class ConversationEntryWriter {

  private ConversationEntryWriter() {}

  /** Returns the record's key: tenant and session. */
  public static byte[] key(ConversationEntry entry) {
    return JsonRecords.write(
        json -> {
          json.writeStringField("tenant", entry.tenant());
          json.writeStringField("session", entry.session());
        });
  }

  /** Returns the record's value; null for a tombstone. */
  public static byte[] value(ConversationEntry entry) {
    if (entry.title() == null) {
      return null;
    }
    return JsonRecords.write(
        json -> {
          json.writeStringField("tenant", entry.tenant());
          json.writeStringField("session", entry.session());
          json.writeStringField("title", Texts.wellFormed(entry.title()));
          json.writeNumberField("created", entry.created());
          json.writeNumberField("updated", entry.updated());
          json.writeNumberField("turns", entry.turns());
          JsonRecords.text(json, "model", entry.model());
        });
  }
}
