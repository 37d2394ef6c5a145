package io.radixflow.engine.request;

import io.radixflow.engine.ChannelId;
import io.radixflow.engine.EngineLostException;
import io.radixflow.engine.ReplyChannel;
import io.radixflow.engine.ReplyProgress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One consumer's channel: its live requests, and a stack of the requests with new output.
 *
 * <p>A request is on the stack at most once, and links to the next one through its own field. So
 * pushing a request allocates nothing. Any thread may push; the consumer takes the whole stack.
 */
public final class EngineChannel implements ReplyChannel {
  private static final Logger LOG = LoggerFactory.getLogger(EngineChannel.class);

  private final ChannelId id;
  private final Runnable onReady;
  private final Consumer<EngineChannel> onClose;
  private final Runnable onRoom;
  private final Map<Long, Request> requests = new ConcurrentHashMap<>();
  private final AtomicReference<Request> news = new AtomicReference<>();
  private final AtomicBoolean notified = new AtomicBoolean();
  private volatile boolean closed;
  private volatile EngineLostException lost;

  /** True if the engine signals this channel at the end of its iteration; engine thread only. */
  public boolean signalPending;

  /**
   * @param onClose runs once when the channel is closed or fenced
   * @param onRoom runs when a drain made room for a paused request
   */
  public EngineChannel(
      ChannelId id, Runnable onReady, Consumer<EngineChannel> onClose, Runnable onRoom) {
    this.id = id;
    this.onReady = onReady;
    this.onClose = onClose;
    this.onRoom = onRoom;
  }

  ChannelId id() {
    return id;
  }

  boolean isOf(String job, int subtask) {
    return id.subtask() == subtask && id.job().equals(job);
  }

  public boolean isClosed() {
    return closed;
  }

  public Map<Long, Request> requests() {
    return requests;
  }

  /** Marks a request as having new output. */
  public void publish(Request request) {
    if (closed || !request.listed.compareAndSet(false, true)) {
      return;
    }
    Request first;
    do {
      first = news.get();
      request.nextNews = first;
    } while (!news.compareAndSet(first, request));
  }

  /** Notifies the consumer, unless it was notified since its last drain; engine thread only. */
  public void signal() {
    if (!closed && news.get() != null && notified.compareAndSet(false, true)) {
      try {
        onReady.run();
      } catch (RuntimeException e) {
        LOG.error("The callback of {} failed; it must not throw", id, e);
      }
    }
  }

  /** Fails the channel: its consumer gets the reason when it drains. */
  public void fail(EngineLostException reason) {
    lost = reason;
    if (!closed) {
      onReady.run();
    }
  }

  @Override
  public void drain(ReplyVisitor visitor) {
    if (lost != null) {
      throw lost;
    }
    notified.set(false);
    Request request = oldestFirst(news.getAndSet(null));
    boolean room = false;
    while (request != null) {
      Request next = request.nextNews;
      request.nextNews = null;
      request.listed.set(false);
      if (!closed) {
        deliver(request, visitor);
        room |= request.isPaused();
      }
      request = next;
    }
    if (room) {
      onRoom.run();
    }
  }

  private void deliver(Request request, ReplyVisitor visitor) {
    if (request.takeReadyPrompt()) {
      visitor.promptReady(request.id);
    }
    ReplyProgress progress = request.ring.take();
    if (progress != null) {
      if (progress.finish() != null) {
        requests.remove(request.id);
      }
      visitor.progress(request.id, progress);
    }
  }

  private static Request oldestFirst(Request newest) {
    Request first = null;
    for (Request each = newest; each != null; ) {
      Request next = each.nextNews;
      each.nextNews = first;
      first = each;
      each = next;
    }
    return first;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      onClose.accept(this);
    }
  }
}
