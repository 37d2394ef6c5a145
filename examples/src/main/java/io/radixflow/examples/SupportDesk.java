package io.radixflow.examples;

import io.radixflow.operators.api.Conversations;
import io.radixflow.operators.api.ModelEngine;
import io.radixflow.protocol.record.ConversationEvent;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * A job with records of its own: customers' questions in, the model's answers out, no Kafka. The
 * first argument names the model; the default is the simulated one.
 */
public final class SupportDesk {

  /** A customer's question; a Flink POJO. */
  public record Question(String customer, String id, String text) {}

  private SupportDesk() {}

  /** Answers three questions of two customers and prints deltas, replies and refused events. */
  public static void main(String[] args) throws Exception {
    StreamExecutionEnvironment job = StreamExecutionEnvironment.getExecutionEnvironment();
    DataStream<Question> questions =
        job.fromData(
            new Question("anna", "1", "Where is my parcel?"),
            new Question("ben", "1", "How do I return a lamp?"),
            new Question("anna", "2", "And when does it arrive?"));
    serve(questions, args.length > 0 ? args[0] : "sim");
    job.execute("support desk");
  }

  static Conversations.Served serve(DataStream<Question> questions, String model) {
    Conversations.Served served =
        Conversations.on(ModelEngine.of(model))
            .serve(
                questions.keyBy(Question::customer),
                q -> ConversationEvent.message(q.customer(), q.id(), q.text()));
    served
        .replies()
        .map(reply -> reply.session() + " " + reply.turn() + ": " + reply.text())
        .print();
    served.deltas().map(delta -> delta.session() + " ... " + delta.text()).print();
    served.refused().map(refused -> "refused: " + refused.reason()).print();
    return served;
  }
}
