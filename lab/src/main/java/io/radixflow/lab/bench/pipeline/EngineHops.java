package io.radixflow.lab.bench.pipeline;

import io.radixflow.engine.ChannelId;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.ReplyChannel;
import io.radixflow.engine.ReplyProgress;
import io.radixflow.protocol.record.FinishReason;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Records the times at which a turn is submitted to an engine and its text comes out. */
record EngineHops(Engine engine) implements InvocationHandler {

  /** Returns an engine that records the times of its turns. */
  static Engine time(Engine engine) {
    return (Engine)
        Proxy.newProxyInstance(
            Engine.class.getClassLoader(), new Class<?>[] {Engine.class}, new EngineHops(engine));
  }

  /** Forwards all calls, and records the time of each call that belongs to a turn. */
  @Override
  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    switch (method.getName()) {
      case "openChannel" -> {
        return open((ChannelId) arguments[0], (Runnable) arguments[1]);
      }
      case "submit" -> {
        TurnTimeline.CURRENT.pass(Hop.SUBMITTED);
        ReplyChannel channel = ((TimedChannel) arguments[0]).channel;
        engine.submit(channel, (Long) arguments[1], (EngineRequest) arguments[2]);
        return null;
      }
      case "cancel" -> {
        ReplyChannel channel = ((TimedChannel) arguments[0]).channel;
        engine.cancel(channel, (Long) arguments[1], (FinishReason) arguments[2]);
        return null;
      }
      default -> {
        try {
          return method.invoke(engine, arguments);
        } catch (InvocationTargetException e) {
          throw e.getCause();
        }
      }
    }
  }

  private ReplyChannel open(ChannelId id, Runnable onReady) {
    Runnable timed =
        () -> {
          TurnTimeline.CURRENT.passUntil(Hop.SIGNALLED, Hop.DRAINED);
          onReady.run();
        };
    return new TimedChannel(engine.openChannel(id, timed));
  }

  private record TimedChannel(ReplyChannel channel) implements ReplyChannel {
    @Override
    public void drain(ReplyVisitor visitor) {
      channel.drain(new TimedVisitor(visitor));
    }

    @Override
    public void close() {
      channel.close();
    }
  }

  private record TimedVisitor(ReplyChannel.ReplyVisitor visitor)
      implements ReplyChannel.ReplyVisitor {
    @Override
    public void promptReady(long requestId) {
      visitor.promptReady(requestId);
    }

    @Override
    public void progress(long requestId, ReplyProgress progress) {
      if (!progress.text().isEmpty()) {
        TurnTimeline.CURRENT.pass(Hop.DRAINED);
      }
      visitor.progress(requestId, progress);
    }
  }
}
