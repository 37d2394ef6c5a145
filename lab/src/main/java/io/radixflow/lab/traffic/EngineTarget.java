package io.radixflow.lab.traffic;

import io.radixflow.engine.ChannelId;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.ReplyChannel;
import io.radixflow.engine.ReplyProgress;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** An engine without a job. A separate thread reads its replies. */
public final class EngineTarget
    implements Target<EngineRequest, EngineReply>, ReplyChannel.ReplyVisitor {
  /** Attempt numbers: each channel to an engine fences earlier channels. */
  private static final AtomicLong CHANNELS = new AtomicLong();

  private final Engine engine;
  private final ReplyChannel channel;
  private final AtomicLong requests = new AtomicLong();
  private final Map<Long, EngineReply> running = new ConcurrentHashMap<>();
  private final ThreadPoolExecutor reader =
      new ThreadPoolExecutor(
          1,
          1,
          0,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          task -> Driver.daemon(task, "bench-reader"),
          new ThreadPoolExecutor.DiscardPolicy());

  /**
   * @param engine stays open when this is closed
   */
  public EngineTarget(Engine engine) {
    this.engine = engine;
    channel =
        engine.openChannel(
            new ChannelId("bench", 0, CHANNELS.getAndIncrement()),
            () -> reader.execute(this::drain));
  }

  private void drain() {
    try {
      channel.drain(this);
    } catch (RuntimeException e) {
      running.values().forEach(reply -> reply.fail(e));
    }
  }

  /** Sends a request, and returns its reply while it grows. */
  public EngineReply begin(EngineRequest request) {
    EngineReply reply = new EngineReply();
    long id = requests.getAndIncrement();
    running.put(id, reply);
    engine.submit(channel, id, request);
    return reply;
  }

  @Override
  public CompletableFuture<EngineReply> send(EngineRequest request) {
    return begin(request).done();
  }

  /** Sends a request and waits for its reply. */
  public EngineReply run(EngineRequest request) throws InterruptedException {
    return Driver.await(send(request));
  }

  @Override
  public void promptReady(long requestId) {}

  @Override
  public void progress(long requestId, ReplyProgress progress) {
    running.get(requestId).add(progress);
    if (progress.finish() != null) {
      running.remove(requestId);
    }
  }

  @Override
  public void close() {
    channel.close();
    reader.shutdown();
  }
}
