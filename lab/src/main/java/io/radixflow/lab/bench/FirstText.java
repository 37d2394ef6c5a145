package io.radixflow.lab.bench;

import io.radixflow.kernels.text.template.ChatMessage;
import io.radixflow.operators.engine.ChannelId;
import io.radixflow.operators.engine.EngineRequest;
import io.radixflow.operators.engine.ReplyChannel;
import io.radixflow.operators.engine.ReplyProgress;
import io.radixflow.operators.flink.engine.ServingEngine;
import java.util.List;
import java.util.concurrent.Semaphore;

/** Times the first text of replies from an engine. */
final class FirstText implements ReplyChannel.ReplyVisitor {
  private final ServingEngine serving;
  private final Semaphore ready = new Semaphore(0);
  private final ReplyChannel channel;
  private long requests;
  private long firstNanos;
  private boolean ended;

  FirstText(ServingEngine serving) {
    this.serving = serving;
    channel = serving.engine().openChannel(new ChannelId("bench", 0, 0), ready::release);
  }

  /** Sends a message and returns the time to the first text, or to the end if there is none. */
  double seconds(String message, int maxTokens) throws InterruptedException {
    List<ChatMessage> messages = List.of(new ChatMessage("user", message));
    EngineRequest request =
        EngineRequest.builder(
                "bench", () -> serving.model().chatTemplate().encode(messages, true), maxTokens)
            .build();
    firstNanos = 0;
    ended = false;
    long start = System.nanoTime();
    serving.engine().submit(channel, requests++, request);
    while (!ended) {
      ready.acquire();
      ready.drainPermits();
      channel.drain(this);
    }
    return (firstNanos - start) * 1e-9;
  }

  @Override
  public void promptReady(long requestId) {}

  @Override
  public void progress(long requestId, ReplyProgress progress) {
    ended = progress.finish() != null;
    if (firstNanos == 0 && (ended || !progress.text().isEmpty())) {
      firstNanos = System.nanoTime();
    }
  }
}
