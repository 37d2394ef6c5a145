package io.radixflow.operators.flink;

import io.radixflow.operators.session.ControlEvent;
import io.radixflow.operators.session.ConversationEvent;
import io.radixflow.operators.session.Reply;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Serves the conversations of its key groups. */
final class ServingOperator extends AbstractStreamOperator<Reply>
    implements TwoInputStreamOperator<ConversationEvent, ControlEvent, Reply> {
  private static final long serialVersionUID = 1L;

  private final transient EngineOpener opener;
  private final transient ServingOptions options;

  ServingOperator(
      StreamOperatorParameters<Reply> parameters, EngineOpener opener, ServingOptions options) {
    super(parameters);
    this.opener = opener;
    this.options = options;
  }

  @Override
  public void processElement1(StreamRecord<ConversationEvent> element) {
    throw new UnsupportedOperationException(opener.identity() + options);
  }

  @Override
  public void processElement2(StreamRecord<ControlEvent> element) {
    throw new UnsupportedOperationException(opener.identity() + options);
  }
}
