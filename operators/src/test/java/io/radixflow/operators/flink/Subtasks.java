package io.radixflow.operators.flink;

import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;

/** Subtasks of the serving operator over one engine, restored with whatever parallelism. */
public final class Subtasks {
  private final ServingOptions options;
  private final ScriptedEngine engine = new ScriptedEngine(700, 6);
  private final List<Reply> committed = new ArrayList<>();
  private List<ServingHarness> subtasks = new ArrayList<>();
  private long now = 1_000;

  /**
   * A checkpoint of all subtasks.
   *
   * @param replies those that it commits
   */
  public record Checkpoint(OperatorSubtaskState state, int parallelism, List<Reply> replies) {}

  public Subtasks(ServingOptions options) throws Exception {
    this.options = options;
    start(1, null);
  }

  private void start(int parallelism, Checkpoint from) throws Exception {
    now += 1_000;
    subtasks = new ArrayList<>();
    for (int i = 0; i < parallelism; i++) {
      ServingHarness h = ServingHarness.of(engine, options, parallelism, i);
      h.setProcessingTime(now);
      if (from == null) {
        h.open();
      } else {
        h.restore(from.state(), from.parallelism());
      }
      subtasks.add(h);
    }
  }

  public void send(Events event) throws Exception {
    subtasks.get(ServingHarness.ownerOf(event.event().session(), subtasks.size())).send(event);
  }

  /** Lets the engine make a token a request, and the subtasks read them; false if nothing runs. */
  public boolean work() throws Exception {
    boolean worked = engine.step();
    for (ServingHarness h : subtasks) {
      h.runMails();
    }
    return worked;
  }

  /** Works until nothing is left to do. */
  public void settle() throws Exception {
    boolean working = true;
    while (working) {
      working = work();
    }
  }

  public Checkpoint checkpoint() throws Exception {
    OperatorSubtaskState[] states = new OperatorSubtaskState[subtasks.size()];
    List<Reply> replies = new ArrayList<>();
    for (int i = 0; i < states.length; i++) {
      states[i] = subtasks.get(i).snapshot();
      replies.addAll(subtasks.get(i).replies());
    }
    return new Checkpoint(
        AbstractStreamOperatorTestHarness.repackageState(states), states.length, replies);
  }

  /** Stops and continues from a checkpoint; replies after it count as never made. */
  public void restore(Checkpoint checkpoint, int parallelism) throws Exception {
    committed.addAll(checkpoint.replies());
    for (ServingHarness h : subtasks) {
      h.close();
    }
    start(parallelism, checkpoint);
  }

  /** Stops; all replies that were committed. */
  public List<Reply> close() throws Exception {
    for (ServingHarness h : subtasks) {
      committed.addAll(h.replies());
      h.close();
    }
    return committed;
  }

  /** Returns the replies by turn, without what may depend on time. */
  public static Map<String, String> said(List<Reply> replies) {
    Map<String, String> said = new TreeMap<>();
    replies.forEach(r -> said.put(r.turn(), r.finishReason() + " " + r.text() + " " + r.error()));
    return said;
  }
}
