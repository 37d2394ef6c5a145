package io.radixflow.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.api.ModelEngine;
import io.radixflow.protocol.record.Reply;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;

/** Runs after packaging, as {@link SupportDeskIT} does. */
class AgentLoopIT {

  @Test
  void theAgentAnswersWithWhatItsToolsHaveSaid() throws Exception {
    StreamExecutionEnvironment job = StreamExecutionEnvironment.getExecutionEnvironment();
    job.setParallelism(2);
    Map<String, Reply> answers = new TreeMap<>();
    try (CloseableIterator<Reply> collected =
        AgentLoop.answers(
                job.fromData(
                    new AgentLoop.Task("one", "call shelf {\"article\": \"lamp\"}"),
                    new AgentLoop.Task(
                        "two",
                        "call shelf {\"article\": \"rug\"}\ncall shelf {\"article\": \"bed\"}"),
                    new AgentLoop.Task("none", "Good morning!")),
                ModelEngine.of("sim:calls=1"))
            .executeAndCollect()) {
      collected.forEachRemaining(reply -> answers.put(reply.session(), reply));
    }

    assertThat(answers).containsOnlyKeys("one", "two", "none");
    assertThat(answers.get("one").text()).matches("It is shelf \\d+\\.");
    assertThat(answers.get("two").text()).matches("It is shelf \\d+\\.");
    assertThat(answers.get("none").text()).isNotEmpty();
    assertThat(answers)
        .extractingByKeys("one", "two", "none")
        .extracting(Reply::turn)
        .containsExactly("round-2", "round-2", "round-1");
  }
}
