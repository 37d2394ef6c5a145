package io.radixflow.operators.flink.state;

import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * Owns the operator's attempt, a number that grows with every start. It is the maximum of the wall
 * clock and the next number after the attempts in the restored checkpoint. So it grows even if an
 * old checkpoint is restored or a clock is slow.
 */
public final class AttemptEpoch {
  private final ListState<Long> attempts;
  private final long attempt;

  /**
   * @param now milliseconds since the epoch
   */
  public AttemptEpoch(OperatorStateStore store, long now) throws Exception {
    attempts = store.getUnionListState(new ListStateDescriptor<>("attempts", Types.LONG));
    long highest = now;
    for (Long earlier : attempts.get()) {
      highest = Math.max(highest, earlier + 1);
    }
    attempt = highest;
  }

  public long attempt() {
    return attempt;
  }

  public void save() throws Exception {
    attempts.update(List.of(attempt));
  }
}
