package io.radixflow.operators.flink;

import io.radixflow.engine.ChannelId;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineInfo;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.GrammarStats;
import io.radixflow.engine.KvEventStats;
import io.radixflow.engine.PoolStats;
import io.radixflow.engine.PromptException;
import io.radixflow.engine.ReplyChannel;
import io.radixflow.engine.ReplyProgress;
import io.radixflow.engine.SchedulerStats;
import io.radixflow.engine.SessionStats;
import io.radixflow.engine.StepStats;
import io.radixflow.engine.draft.DraftStats;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.tier.TierStats;
import io.radixflow.models.ModelConfig;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.ServiceClass;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.TierTokens;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * An engine without threads: {@link #step} gives each request one token. Tokens are letters, a pure
 * function of the prompt and the tokens before, so that a reply is the same however often it was
 * interrupted.
 */
public final class ScriptedEngine implements Engine {

  /** A request as it was handed in. */
  public record Submitted(
      String label,
      String namespace,
      int publicTokens,
      int[] resumed,
      int[] prompt,
      long seed,
      ServiceClass service) {}

  private final SimModel model;
  private final int contextLength;
  private final int replyLength;
  private final List<Channel> channels = new ArrayList<>();
  private final List<Submitted> submitted = new ArrayList<>();
  private final List<Submitted> expected = new ArrayList<>();
  private final List<String> closedSessions = new ArrayList<>();
  private final Map<String, List<int[]>> computed = new HashMap<>();
  private boolean closed;
  private boolean onItsOwn;
  private final List<CompletableFuture<TierTokens>> heldPlaces = new ArrayList<>();
  private boolean holdsPlaces;

  /**
   * @param replyLength tokens of a reply before its end token
   */
  public ScriptedEngine(int contextLength, int replyLength) {
    this.model = SimModel.open(SimOptions.DEFAULT);
    this.contextLength = contextLength;
    this.replyLength = replyLength;
  }

  public SimModel model() {
    return model;
  }

  /** Requests whose prompt was made, in that order. */
  public List<Submitted> submitted() {
    return submitted;
  }

  /** Turns that were announced, in that order, with what their prompts begin with. */
  public List<Submitted> expected() {
    return expected;
  }

  /** Sessions that were closed, in that order. */
  public List<String> closedSessions() {
    return closedSessions;
  }

  public boolean isClosed() {
    return closed;
  }

  /** Requests that run. */
  public int running() {
    return channels.stream().mapToInt(channel -> channel.requests.size()).sum();
  }

  /** From here on the engine works in the mail of the previous news. */
  public void stepOnItsOwn() {
    onItsOwn = true;
    step();
  }

  /** Makes prompts, or gives every request its next token; false if there is nothing to do. */
  public boolean step() {
    boolean worked = false;
    for (Channel channel : List.copyOf(channels)) {
      worked |= channel.step();
    }
    return worked;
  }

  @Override
  public EngineInfo info() {
    ModelConfig config = model.config();
    return new EngineInfo(config, "scripted", contextLength, 0, 16, "scripted");
  }

  @Override
  public ReplyChannel openChannel(ChannelId id, Runnable onReady) {
    channels.stream()
        .filter(other -> other.id.subtask() == id.subtask())
        .filter(other -> other.id.attempt() < id.attempt())
        .forEach(Channel::close);
    Channel channel = new Channel(id, onReady);
    channels.add(channel);
    return channel;
  }

  @Override
  public void submit(ReplyChannel channel, long requestId, EngineRequest request) {
    ((Channel) channel).requests.put(requestId, new Running(request));
    if (onItsOwn) {
      step();
    }
  }

  private static Submitted submitted(EngineRequest request, int[] prompt) {
    return new Submitted(
        request.label(),
        request.namespace(),
        request.prompt().publicTokens(),
        request.resumed(),
        prompt,
        request.sampling().seed(),
        request.service());
  }

  @Override
  public boolean prefetch(EngineRequest turn) {
    try {
      return expected.add(submitted(turn, turn.prompt().ids()));
    } catch (PromptException e) {
      return true;
    }
  }

  @Override
  public void cancel(ReplyChannel channel, long requestId, FinishReason reason) {
    ((Channel) channel).requests.remove(requestId);
  }

  /** Keeps back where pages are, from here on. */
  public void holdPlaces() {
    holdsPlaces = true;
  }

  /** Answers all of them. */
  public void releasePlaces(TierTokens places) {
    holdsPlaces = false;
    heldPlaces.forEach(held -> held.complete(places));
    heldPlaces.clear();
  }

  /** Fails all of them. */
  public void failPlaces() {
    holdsPlaces = false;
    heldPlaces.forEach(held -> held.completeExceptionally(new IllegalStateException("no answer")));
    heldPlaces.clear();
  }

  @Override
  public CompletableFuture<TierTokens> locate(
      String tenant, String namespace, EngineRequest.PromptSource text) {
    if (holdsPlaces) {
      heldPlaces.add(new CompletableFuture<>());
      return heldPlaces.get(heldPlaces.size() - 1);
    }
    int most = 0;
    try {
      int[] ids = text.ids();
      for (int[] known : computed.getOrDefault(namespace, List.of())) {
        int differs = Arrays.mismatch(known, ids);
        most = Math.max(most, differs < 0 ? ids.length : differs);
      }
    } catch (PromptException e) {
      return CompletableFuture.failedFuture(e);
    }
    return CompletableFuture.completedFuture(new TierTokens(most / 16 * 16, 0, 0, 0));
  }

  @Override
  public void closeSession(String session) {
    closedSessions.add(session);
  }

  @Override
  public EngineStats stats() {
    return new EngineStats(
        StepStats.NONE,
        PoolStats.NONE,
        new SchedulerStats(running(), 0, 0, 0, 0, 0),
        SessionStats.NONE,
        KvEventStats.NONE,
        TierStats.NONE,
        GrammarStats.NONE,
        DraftStats.NONE);
  }

  @Override
  public void close() {
    closed = true;
  }

  private static final class Running {
    final EngineRequest request;
    int[] prompt;
    int[] tokens;
    boolean progressed;

    Running(EngineRequest request) {
      this.request = request;
      this.tokens = request.resumed();
    }
  }

  private final class Channel implements ReplyChannel {
    private final ChannelId id;
    private final Runnable onReady;
    private final Map<Long, Running> requests = new LinkedHashMap<>();
    private final Queue<Consumer<ReplyVisitor>> news = new ArrayDeque<>();
    private boolean closed;
    private boolean announced;

    Channel(ChannelId id, Runnable onReady) {
      this.id = id;
      this.onReady = onReady;
    }

    boolean step() {
      boolean worked = !requests.isEmpty();
      new LinkedHashMap<>(requests).forEach(this::step);
      if (!news.isEmpty() && !announced && !closed) {
        announced = true;
        onReady.run();
      }
      return worked;
    }

    private void step(long requestId, Running running) {
      if (running.prompt == null) {
        makePrompt(requestId, running);
        return;
      }
      if (running.request.tokens().showsProgress()
          && running.tokens.length == 0
          && !running.progressed) {
        running.progressed = true;
        int half = running.prompt.length / 2;
        progress(requestId, running, 0, new int[0], "", null, null, half);
        return;
      }
      int at = running.tokens.length;
      boolean ends = at == replyLength && !running.request.ignoreEndOfTurn();
      int token = ends ? endOfTurn() : letter(running.prompt, running.tokens);
      running.tokens = Arrays.copyOf(running.tokens, at + 1);
      running.tokens[at] = token;
      FinishReason finish =
          token == endOfTurn()
              ? FinishReason.STOP
              : at + 1 == running.request.maxTokens() ? FinishReason.LENGTH : null;
      String text = token == endOfTurn() ? "" : Character.toString(token);
      progress(requestId, running, at, new int[] {token}, text, finish, null, -1);
    }

    private void makePrompt(long requestId, Running running) {
      EngineRequest request = running.request;
      try {
        running.prompt = request.prompt().ids();
      } catch (PromptException e) {
        progress(requestId, running, 0, new int[0], "", FinishReason.REJECTED, e.error(), -1);
        return;
      }
      submitted.add(submitted(request, running.prompt));
      news.add(visitor -> visitor.promptReady(requestId));
    }

    private void progress(
        long requestId,
        Running running,
        int at,
        int[] tokens,
        String text,
        FinishReason finish,
        ReplyError error,
        int promptDone) {
      int promptLength = running.prompt == null ? 0 : running.prompt.length;
      Usage usage = new Usage(promptLength, 0, at + tokens.length);
      List<String> stops = finish == FinishReason.STOP ? running.request.stop() : List.of();
      String stop = stops.isEmpty() ? null : stops.get(0);
      ReplyProgress progress =
          new ReplyProgress(
              at,
              tokens,
              at,
              text,
              List.of(),
              finish,
              stop,
              0,
              usage,
              error,
              null,
              List.of(),
              List.of(),
              promptDone);
      news.add(visitor -> visitor.progress(requestId, progress));
      if (finish != null) {
        if (promptLength > 0) {
          computed
              .computeIfAbsent(running.request.namespace(), name -> new ArrayList<>())
              .add(textOf(running));
        }
        requests.remove(requestId);
      }
    }

    @Override
    public void drain(ReplyVisitor visitor) {
      announced = false;
      while (!closed && !news.isEmpty()) {
        news.remove().accept(visitor);
      }
      if (onItsOwn) {
        step();
      }
    }

    @Override
    public void close() {
      closed = true;
      requests.clear();
    }
  }

  private static int[] textOf(Running running) {
    int[] text = Arrays.copyOf(running.prompt, running.prompt.length + running.tokens.length);
    System.arraycopy(running.tokens, 0, text, running.prompt.length, running.tokens.length);
    return text;
  }

  private int endOfTurn() {
    Tokenizer tokenizer = model.tokenizer();
    return tokenizer.endOfTurnIds()[0];
  }

  private static int letter(int[] prompt, int[] tokens) {
    return 'a' + Math.floorMod(31 * Arrays.hashCode(prompt) + Arrays.hashCode(tokens), 26);
  }
}
