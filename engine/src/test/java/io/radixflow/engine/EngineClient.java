package io.radixflow.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.ReplyProgress.TokenLogprob;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.Usage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** A consumer for tests: submits requests and gathers their replies, checking each progress. */
public final class EngineClient implements AutoCloseable {
  /** The progress of one request that was seen. */
  public static final class Seen {
    public boolean promptReady;
    public final List<Integer> tokens = new ArrayList<>();
    public final StringBuilder text = new StringBuilder();
    public final List<TokenLogprob> logprobs = new ArrayList<>();
    public final List<TokenLogprob> prompt = new ArrayList<>();
    public Integer stopToken;
    public int firstToken = -1;
    public int firstText = -1;
    public int progresses;
    public int promptDone = -1;
    public FinishReason finish;
    public int finishOrder;
    public Usage usage;
    public String error;

    public int[] ids() {
      return tokens.stream().mapToInt(Integer::intValue).toArray();
    }
  }

  private final Engine engine;
  private final ReplyChannel channel;
  private final Semaphore ready = new Semaphore(0);
  private final Map<Long, Seen> replies = new HashMap<>();
  private long nextId;
  private int finishes;

  public EngineClient(Engine engine) {
    this(engine, new ChannelId("test", 0, 0));
  }

  public EngineClient(Engine engine, ChannelId id) {
    this.engine = engine;
    this.channel = engine.openChannel(id, ready::release);
  }

  /** Returns a request with a given prompt. */
  public static EngineRequest request(int[] prompt, SamplingParams sampling, int maxTokens) {
    return EngineRequest.builder("test", () -> prompt, maxTokens).sampling(sampling).build();
  }

  /** Returns a prompt of {@code length} bytes that {@code seed} decides. */
  public static int[] prompt(int seed, int length) {
    return IntStream.range(0, length)
        .map(i -> 'a' + Math.floorMod(seed * 31 + i * 7, 26))
        .toArray();
  }

  public long submit(EngineRequest request) {
    long id = nextId++;
    engine.submit(channel, id, request);
    return id;
  }

  public long submit(int[] prompt, int maxTokens) {
    return submit(request(prompt, SamplingParams.GREEDY, maxTokens));
  }

  /** Submits requests, of which all wait before the engine plans its next step. */
  public List<Long> submitTogether(List<EngineRequest> requests) {
    try (EngineHold hold = new EngineHold(engine)) {
      List<Long> ids = requests.stream().map(this::submit).toList();
      awaitAccepted(ids);
      return ids;
    }
  }

  /** Waits until each request has its prompt and waits to run, or has ended. */
  public void awaitAccepted(List<Long> ids) {
    Patience.await().until(() -> areAccepted(ids));
  }

  private boolean areAccepted(List<Long> ids) {
    drain();
    return ids.stream().allMatch(id -> seen(id).promptReady || seen(id).finish != null);
  }

  public void cancel(long id) {
    cancel(id, FinishReason.CANCELLED);
  }

  public void cancel(long id, FinishReason reason) {
    engine.cancel(channel, id, reason);
  }

  public Seen run(EngineRequest request) {
    return await(submit(request));
  }

  public Seen await(long id) {
    while (seen(id).finish == null) {
      awaitNews();
    }
    return seen(id);
  }

  /** Waits until the request has at least {@code count} tokens or has ended. */
  public Seen awaitTokens(long id, int count) {
    while (seen(id).finish == null && seen(id).tokens.size() < count) {
      awaitNews();
    }
    return seen(id);
  }

  /** Waits until progress says that {@code tokens} tokens of a request's prompt are done. */
  public void awaitPromptDone(long id, int tokens) {
    while (seen(id).promptDone < tokens) {
      awaitNews();
    }
    assertThat(seen(id).promptDone).isEqualTo(tokens);
  }

  private void awaitNews() {
    try {
      assertThat(ready.tryAcquire(Patience.DURATION.toSeconds(), TimeUnit.SECONDS))
          .as("progress within %s; %s", Patience.DURATION, engine.stats())
          .isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    drain();
  }

  public Seen seen(long id) {
    return replies.computeIfAbsent(id, key -> new Seen());
  }

  public int notifications() {
    return ready.availablePermits();
  }

  public void drain() {
    channel.drain(
        new ReplyChannel.ReplyVisitor() {
          @Override
          public void promptReady(long id) {
            assertThat(seen(id).promptReady).isFalse();
            assertThat(seen(id).progresses).isZero();
            seen(id).promptReady = true;
          }

          @Override
          public void progress(long id, ReplyProgress progress) {
            gather(seen(id), progress);
          }
        });
  }

  private void gather(Seen seen, ReplyProgress progress) {
    assertThat(seen.finish).as("nothing after the end").isNull();
    if (seen.progresses++ == 0) {
      seen.firstToken = progress.tokenOffset();
      seen.firstText = progress.textOffset();
    }
    assertThat(progress.tokenOffset()).isEqualTo(seen.firstToken + seen.tokens.size());
    assertThat(progress.textOffset())
        .isEqualTo(seen.firstText + seen.text.codePointCount(0, seen.text.length()));
    IntStream.of(progress.tokens()).forEach(seen.tokens::add);
    seen.text.append(progress.text());
    seen.logprobs.addAll(progress.logprobs());
    seen.prompt.addAll(progress.prompt());
    seen.promptDone = progress.promptDone();
    seen.stopToken = progress.stopToken();
    seen.finish = progress.finish();
    if (seen.finish != null) {
      seen.finishOrder = finishes++;
    }
    seen.usage = progress.usage();
    seen.error = progress.error() == null ? null : progress.error().message();
  }

  public ReplyChannel channel() {
    return channel;
  }

  @Override
  public void close() {
    channel.close();
  }
}
