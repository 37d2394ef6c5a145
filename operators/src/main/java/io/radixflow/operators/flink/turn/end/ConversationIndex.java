package io.radixflow.operators.flink.turn.end;

import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import io.radixflow.protocol.record.ConversationEntry;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.OutputTag;

/**
 * Emits the changes of sessions: an entry when a turn is remembered, a tombstone when the
 * conversation is removed. Sessions of prompts without a chat template are not in the index.
 *
 * @param output takes the entries; null if there is no index
 * @param model name of the served model
 */
public record ConversationIndex(Output<StreamRecord<Reply>> output, String model) {
  /** The side output of entries. Without a sink Flink drops them. */
  public static final OutputTag<ConversationEntry> ENTRIES =
      new OutputTag<>("conversation-index", TypeInformation.of(ConversationEntry.class));

  /**
   * Emits the entry of a session after a turn.
   *
   * @param before the turns before it, the oldest first
   */
  void remembered(SessionContext session, List<Turn> before, Turn turn) {
    if (output == null || session.slot().raw()) {
      return;
    }
    Turn first = before.isEmpty() ? turn : before.get(0);
    String title =
        Stream.concat(before.stream().filter(each -> !each.hidden()), Stream.of(turn))
            .flatMap(each -> each.messages().stream())
            .filter(message -> message.role().equals("user") && message.content() != null)
            .map(Message::content)
            .filter(text -> !text.isBlank())
            .findFirst()
            .map(ConversationEntry::title)
            .orElse("");
    emit(
        new ConversationEntry(
            session.slot().tenant(),
            session.id(),
            title,
            first.details().created(),
            turn.details().completed(),
            turn.depth() + 1,
            model));
  }

  /** Emits the tombstone of a session whose conversation is about to be removed. */
  void removed(SessionContext session) {
    if (output == null) {
      return;
    }
    SessionSlot slot = session.slot();
    if (slot.opened() && slot.life() == SessionSlot.Life.OPEN && !slot.raw()) {
      emit(ConversationEntry.tombstone(slot.tenant(), session.id()));
    }
  }

  private void emit(ConversationEntry entry) {
    output.collect(ENTRIES, new StreamRecord<>(entry));
  }
}
