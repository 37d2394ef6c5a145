package io.radixflow.operators.flink.turn;

import io.radixflow.operators.record.RejectedEvent;
import io.radixflow.operators.record.ReplyDelta;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.util.OutputTag;

/** Side outputs of the serving operator; its main output is the replies. */
public final class ServingOutputs {

  /** Pieces of replies under way, at least once. */
  public static final OutputTag<ReplyDelta> DELTAS =
      new OutputTag<>("reply-deltas", TypeInformation.of(ReplyDelta.class));

  /** Events that were refused and have no turn id to answer. */
  public static final OutputTag<RejectedEvent> REJECTED =
      new OutputTag<>("rejected-events", TypeInformation.of(RejectedEvent.class));

  private ServingOutputs() {}
}
