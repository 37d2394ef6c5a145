package io.radixflow.cli.state;

import io.radixflow.operators.flink.state.SavedState;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import io.radixflow.text.template.Message;
import java.util.Locale;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.state.api.functions.KeyedStateReaderFunction;
import org.apache.flink.util.Collector;

/** Emits the figures of each session; {@link SavedSession#NONE} for a key that is not a session. */
final class SessionFigures extends KeyedStateReaderFunction<String, SavedSession> {
  private static final long serialVersionUID = 1L;

  private transient ValueState<SessionSlot> slot;
  private transient MapState<String, Long> branches;
  private transient MapState<Long, Turn> turns;
  private transient MapState<Long, PendingTurn> pending;
  private transient MapState<Long, Long> turnIds;

  @Override
  public void open(OpenContext context) {
    slot = getRuntimeContext().getState(SavedState.slot());
    branches = getRuntimeContext().getMapState(SavedState.branches());
    turns = getRuntimeContext().getMapState(SavedState.turns());
    pending = getRuntimeContext().getMapState(SavedState.pendingTurns());
    turnIds = getRuntimeContext().getMapState(SavedState.turnIds());
  }

  @Override
  public void readKey(String session, Context context, Collector<SavedSession> out)
      throws Exception {
    SessionSlot known = slot.value();
    if (known == null) {
      out.collect(SavedSession.NONE);
      return;
    }
    int count = 0;
    long tokens = 0;
    long characters = 0;
    for (Turn turn : turns.values()) {
      count += turn.id() == Turn.ROOT ? 0 : 1;
      tokens += turn.ids().length;
      characters += turn.reply() == null ? 0 : turn.reply().length();
      for (Message message : turn.messages()) {
        characters += message.length();
      }
    }
    out.collect(
        new SavedSession(
            session,
            known.tenant(),
            known.opened() ? known.life().name().toLowerCase(Locale.ROOT) : "unopened",
            size(branches.keys()),
            count,
            tokens,
            characters,
            size(pending.keys()),
            size(turnIds.keys()),
            known.lastEvent(),
            known.pages()));
  }

  private static int size(Iterable<?> entries) {
    int size = 0;
    for (Object ignored : entries) {
      size++;
    }
    return size;
  }
}
