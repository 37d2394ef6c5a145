package io.radixflow.lab.bench.pipeline;

import io.radixflow.jobs.client.ConversationClient;
import io.radixflow.jobs.client.ReplyListener;
import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.GenerationOptions;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyDelta;
import io.radixflow.tools.cli.common.CliException;
import io.radixflow.tools.cli.common.Errors;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Runs turns through the job, one at a time, each in a session of its own. */
final class PipedTurns {
  private final ConversationClient client;
  private final GenerationOptions options;
  private final String name = "bench-" + UUID.randomUUID() + "-";
  private int turns;

  PipedTurns(ConversationClient client, int maxTokens) {
    this.client = client;
    this.options = GenerationOptions.greedy(maxTokens);
  }

  /** Runs a turn to its last delta. */
  FirstTexts.Turn run(String message) throws InterruptedException {
    ConversationEvent event =
        ConversationEvent.builder(EventKind.MESSAGE, name + turns++, "turn")
            .messages(List.of(new Message("user", message)))
            .options(options)
            .build();
    TurnTimeline timeline = TurnTimeline.CURRENT;
    timeline.begin();
    Heard heard = new Heard();
    long begun = System.nanoTime();
    CompletableFuture<Reply> reply = client.ask(event, heard);
    reply.whenComplete(
        (committed, failure) -> {
          if (failure != null) {
            heard.last.completeExceptionally(failure);
          }
        });
    ReplyDelta last = last(heard);
    return new FirstTexts.Turn((heard.firstNanos - begun) * 1e-9, timeline.times(), last.usage());
  }

  private static ReplyDelta last(Heard heard) throws InterruptedException {
    try {
      ReplyDelta last = heard.last.get();
      if (last.error() != null) {
        throw new CliException("no reply: " + last.error().message());
      }
      return last;
    } catch (ExecutionException e) {
      throw new CliException("no reply: " + Errors.line(e.getCause()), e);
    }
  }

  /** What a client hears of a turn, on a thread of its own. */
  private static final class Heard implements ReplyListener {
    private final CompletableFuture<ReplyDelta> last = new CompletableFuture<>();
    private volatile long firstNanos;

    @Override
    public void text(String piece) {
      if (firstNanos == 0) {
        TurnTimeline.CURRENT.pass(Hop.HEARD);
        firstNanos = System.nanoTime();
      }
    }

    @Override
    public void part(ReplyDelta.Kind kind, int index, String id, String piece) {
      text(piece);
    }

    @Override
    public void finished(ReplyDelta delta) {
      last.complete(delta);
    }
  }
}
