package io.radixflow.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.model.SimModel;
import io.radixflow.operators.api.Conversations;
import io.radixflow.protocol.record.Reply;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;

/** Runs after packaging: the class path has the product's jars, as a stranger's job has. */
class SupportDeskIT {

  @Test
  void aJobWithRecordsOfItsOwnGetsOneReplyForEachQuestion() throws Exception {
    StreamExecutionEnvironment job = StreamExecutionEnvironment.getExecutionEnvironment();
    job.setParallelism(2);
    Conversations.Served served =
        SupportDesk.serve(
            job.fromData(
                new SupportDesk.Question("anna", "1", "Where is my parcel?"),
                new SupportDesk.Question("ben", "1", "How do I return a lamp?"),
                new SupportDesk.Question("anna", "2", "And when does it arrive?")),
            "sim");
    List<Reply> replies = new ArrayList<>();
    try (CloseableIterator<Reply> collected = served.replies().executeAndCollect()) {
      collected.forEachRemaining(replies::add);
    }

    assertThat(replies)
        .extracting(reply -> reply.session() + reply.turn() + reply.finishReason())
        .containsExactlyInAnyOrder("anna1stop", "ben1stop", "anna2stop");
    assertThat(replies).allSatisfy(reply -> assertThat(reply.text()).isNotEmpty());
  }

  @Test
  void theProductIsOnTheClassPathAsJars() {
    assertThat(List.of(Conversations.class, SimModel.class))
        .allSatisfy(
            type ->
                assertThat(type.getProtectionDomain().getCodeSource().getLocation().getPath())
                    .endsWith(".jar"));
  }
}
