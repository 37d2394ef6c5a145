package io.radixflow.cli.state;

import io.radixflow.operators.flink.state.SavedState;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import io.radixflow.text.template.Message;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.state.api.functions.KeyedStateReaderFunction;
import org.apache.flink.util.Collector;

/**
 * Emits one session's conversation, branch by branch, and its turns without a reply; {@link
 * SavedMessage#NONE} for every session.
 */
final class SessionText extends KeyedStateReaderFunction<String, SavedMessage> {
  private static final long serialVersionUID = 1L;

  private final String wanted;
  private transient ValueState<SessionSlot> slot;
  private transient MapState<String, Long> branches;
  private transient MapState<Long, Turn> turns;
  private transient MapState<Long, PendingTurn> pending;

  SessionText(String wanted) {
    this.wanted = wanted;
  }

  @Override
  public void open(OpenContext context) {
    slot = getRuntimeContext().getState(SavedState.slot());
    branches = getRuntimeContext().getMapState(SavedState.branches());
    turns = getRuntimeContext().getMapState(SavedState.turns());
    pending = getRuntimeContext().getMapState(SavedState.pendingTurns());
  }

  @Override
  public void readKey(String session, Context context, Collector<SavedMessage> out)
      throws Exception {
    SessionSlot known = session.equals(wanted) ? slot.value() : null;
    out.collect(SavedMessage.NONE);
    if (known == null) {
      return;
    }
    Turn root = turns.get(Turn.ROOT);
    if (root != null) {
      collect(out, null, null, root.messages(), null);
    }
    List<Map.Entry<String, Long>> heads = new ArrayList<>();
    branches.entries().forEach(heads::add);
    heads.sort(Map.Entry.comparingByKey());
    for (Map.Entry<String, Long> head : heads) {
      Deque<Turn> path = path(head.getValue());
      long first = path.isEmpty() ? head.getValue() : path.getLast().root();
      if (first != Turn.ROOT) {
        collect(out, head.getKey(), null, turns.get(first).messages(), null);
      }
      for (Turn turn : path) {
        collect(out, head.getKey(), turn.turn(), turn.messages(), null);
        if (turn.reply() != null) {
          out.collect(
              new SavedMessage(head.getKey(), turn.turn(), turn.reply(), turn.finishReason()));
        }
      }
    }
    List<PendingTurn> waiting = new ArrayList<>();
    pending.values().forEach(waiting::add);
    waiting.sort(Comparator.comparingLong(PendingTurn::id));
    for (PendingTurn turn : waiting) {
      collect(out, turn.branch(), turn.turn(), turn.messages(), "pending");
    }
  }

  private static void collect(
      Collector<SavedMessage> out,
      String branch,
      String turn,
      List<Message> messages,
      String finishReason) {
    for (Message message : messages) {
      out.collect(new SavedMessage(branch, turn, message, finishReason));
    }
  }

  private Deque<Turn> path(long last) throws Exception {
    Deque<Turn> path = new ArrayDeque<>();
    Turn turn = last == Turn.ROOT ? null : turns.get(last);
    while (turn != null && !turn.isRoot()) {
      path.addFirst(turn);
      turn = turn.parent() == turn.root() ? null : turns.get(turn.parent());
    }
    return path;
  }
}
