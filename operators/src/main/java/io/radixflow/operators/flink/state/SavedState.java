package io.radixflow.operators.flink.state;

import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * Names and types of the operator's keyed state, whose key is the session id: for the operator, and
 * for programs that read or write its savepoints. If a name or type changes, savepoints become
 * unreadable; fields may be added to the records.
 */
public final class SavedState {
  /** The operator's uid in the job. */
  public static final String OPERATOR_UID = "serving";

  static final String SLOT = "slot";
  static final String PENDING = "pending-turns";

  private SavedState() {}

  /** The session's small state, including the places of its pages. */
  public static ValueStateDescriptor<SessionSlot> slot() {
    return new ValueStateDescriptor<>(SLOT, TypeInformation.of(SessionSlot.class));
  }

  /** The number of the last turn of each branch. */
  public static MapStateDescriptor<String, Long> branches() {
    return new MapStateDescriptor<>("branches", Types.STRING, Types.LONG);
  }

  /** Finished turns by number, and the root with the system prompt. */
  public static MapStateDescriptor<Long, Turn> turns() {
    return new MapStateDescriptor<>("turns", Types.LONG, TypeInformation.of(Turn.class));
  }

  /** The numbers of finished turns by turn id, and by the hash of the conversation up to them. */
  public static MapStateDescriptor<String, Long> turnNumbers() {
    return new MapStateDescriptor<>("turn-numbers", Types.STRING, Types.LONG);
  }

  /** Returns the key of a turn's number by turn id. */
  public static String byId(String turn) {
    return "=" + turn;
  }

  /** Returns the key of a turn's number by the hash of the conversation that ends with it. */
  public static String byHash(String hash) {
    return "#" + hash;
  }

  /** Turns without a reply by number. */
  public static MapStateDescriptor<Long, PendingTurn> pendingTurns() {
    return new MapStateDescriptor<>(PENDING, Types.LONG, TypeInformation.of(PendingTurn.class));
  }

  /** The times at which turn ids were seen, by hash. */
  public static MapStateDescriptor<Long, Long> turnIds() {
    return new MapStateDescriptor<>("turn-ids", Types.LONG, Types.LONG);
  }
}
