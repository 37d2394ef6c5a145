package io.radixflow.engine.request;

import io.radixflow.engine.ChannelId;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The channels of an engine's consumers, which are subtasks of jobs. Only the channels of a
 * consumer's newest attempt stay open: an older attempt is a task that was stopped but still runs.
 *
 * <p>Any thread.
 */
public final class Channels {
  private final Map<Subtask, Long> attempts = new HashMap<>();
  private final Set<EngineChannel> channels = ConcurrentHashMap.newKeySet();
  private volatile boolean ended;

  /** The subtask that attempts belong to. */
  private record Subtask(String job, int subtask) {}

  /**
   * Adds a channel and closes the channels of earlier attempts. Closes the new channel if it
   * belongs to an earlier attempt.
   */
  public void add(EngineChannel channel) {
    ChannelId id = channel.id();
    long newest;
    synchronized (attempts) {
      newest = attempts.merge(new Subtask(id.job(), id.subtask()), id.attempt(), Math::max);
      channels.add(channel);
      if (ended) {
        channel.close();
      }
    }
    for (EngineChannel each : channels) {
      if (each.isOf(id.job(), id.subtask()) && each.id().attempt() < newest) {
        each.close();
      }
    }
  }

  /** Removes a channel that is closed. */
  public void remove(EngineChannel channel) {
    channels.remove(channel);
  }

  public void forEach(Consumer<EngineChannel> action) {
    channels.forEach(action);
  }

  /** Stops accepting channels and requests; false if it has stopped already. */
  public boolean end() {
    synchronized (attempts) {
      boolean first = !ended;
      ended = true;
      return first;
    }
  }

  /** Returns whether the engine has stopped accepting channels and requests. */
  public boolean haveEnded() {
    return ended;
  }
}
