package io.radixflow.operators.flink.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.recovery.EmittedReply;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.SessionPages;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import io.radixflow.operators.session.TurnProgress;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.RejectedEvent;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.control.ControlEvent;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(180)
class StateTypesTest {

  @ParameterizedTest
  @ValueSource(
      classes = {
        ConversationEvent.class,
        ControlEvent.class,
        Reply.class,
        ReplyDelta.class,
        RejectedEvent.class,
        SessionSlot.class,
        SessionPages.class,
        Turn.class,
        PendingTurn.class,
        TurnProgress.class,
        EmittedReply.class
      })
  void everyStreamAndStateTypeIsAPojoToItsLastField(Class<?> type) {
    Configuration configuration = new Configuration();
    configuration.set(PipelineOptions.GENERIC_TYPES, false);
    TypeInformation<?> info = TypeInformation.of(type);
    assertThat(info).isInstanceOf(PojoTypeInfo.class);
    assertThat(info.createSerializer(new SerializerConfigImpl(configuration))).isNotNull();
  }
}
