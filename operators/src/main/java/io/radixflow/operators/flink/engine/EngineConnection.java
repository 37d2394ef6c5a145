package io.radixflow.operators.flink.engine;

import io.radixflow.engine.ChannelId;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.ReplyChannel;
import io.radixflow.engine.SessionRef;
import io.radixflow.protocol.record.FinishReason;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.apache.flink.api.common.operators.MailboxExecutor;

/**
 * Owns the subtask's channel to the engine. Each engine step sends one mail, which reads all
 * progress. Only {@link #announce} runs on a thread other than the task's.
 */
public final class EngineConnection implements AutoCloseable {

  /** Receives progress on the task's thread. */
  public interface Reader extends ReplyChannel.ReplyVisitor {
    /** Called at the end of a mail, after all its progress was passed. */
    void drained() throws Exception;
  }

  private final Engine engine;
  private final MailboxExecutor mailbox;
  private final Reader reader;
  private final Consumer<Throwable> failure;
  private final ReplyChannel channel;
  private long nextRequest;
  private boolean suspended;

  /**
   * @param failure fails the task from any thread
   */
  public EngineConnection(
      Engine engine,
      ChannelId id,
      MailboxExecutor mailbox,
      Reader reader,
      Consumer<Throwable> failure) {
    this.engine = engine;
    this.mailbox = mailbox;
    this.reader = reader;
    this.failure = failure;
    this.channel = engine.openChannel(id, this::announce);
  }

  /** Returns an id for the next request, so that the caller knows it before any progress comes. */
  public long nextRequest() {
    return nextRequest++;
  }

  public void submit(long requestId, EngineRequest request) {
    engine.submit(channel, requestId, request);
  }

  public void cancel(long requestId, FinishReason reason) {
    engine.cancel(channel, requestId, reason);
  }

  /** Announces a turn; returns false if the engine has no room to prepare for it. */
  public boolean prefetch(EngineRequest expected) {
    return engine.prefetch(expected);
  }

  /** Withdraws the announcement of a branch's next turn. */
  public void withdraw(SessionRef turn) {
    engine.withdraw(turn);
  }

  /** Releases cached pages that only this session uses; the session must have no turns. */
  public void closeSession(String session) {
    engine.closeSession(session);
  }

  /** Stops reading progress. Requests pause when their rings are full. */
  public void suspend() {
    suspended = true;
  }

  /** Continues reading. */
  public void resume() throws Exception {
    suspended = false;
    drain();
  }

  @Override
  public void close() {
    channel.close();
  }

  /** Engine thread. */
  private void announce() {
    try {
      mailbox.execute(this::drain, "progress of replies");
    } catch (RejectedExecutionException closing) {
      // the task is going away; its turns are in keyed state
    } catch (RuntimeException e) {
      failure.accept(e);
    }
  }

  private void drain() throws Exception {
    if (!suspended) {
      channel.drain(reader);
      reader.drained();
    }
  }
}
