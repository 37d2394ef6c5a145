package io.radixflow.operators.flink.turn;

import io.radixflow.operators.record.RejectedEvent;
import io.radixflow.operators.record.ReplyDelta;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.util.OutputTag;

/** The side outputs of the serving operator; its main output has the replies. */
public final class ServingOutputs {

  /** Pieces of running replies, each at least once. */
  public static final OutputTag<ReplyDelta> DELTAS =
      new OutputTag<>("reply-deltas", TypeInformation.of(ReplyDelta.class));

  /** Refused events without a turn id that a reply could name. */
  public static final OutputTag<RejectedEvent> REJECTED =
      new OutputTag<>("rejected-events", TypeInformation.of(RejectedEvent.class));

  private ServingOutputs() {}
}
