package io.radixflow.engine.request;

import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.session.CacheSlot;
import io.radixflow.engine.cache.session.SessionPosition;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ReplyError;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A request inside the engine: its identity, how it ends, and its parts. Each part has private
 * fields and one owner, and only the owner changes it:
 *
 * <ul>
 *   <li>{@link #tokens} and {@link #reply}: the intake thread makes them, then {@code Replies}
 *       continues them.
 *   <li>{@link #steps}: changed when a step is planned and when it ends.
 *   <li>{@link #pages}: changed by the package {@code pages}.
 *   <li>{@link #standing}: changed by the package {@code schedule}.
 * </ul>
 *
 * <p>Other threads also use the ring, the cancellation, the pause and the link in the channel's
 * stack. The intake thread passes everything else to the engine thread, which then owns it.
 */
public final class Request {
  private static final int[] NONE = {};

  /** The stages of a request in the engine. */
  public enum State {
    INTAKE,
    WAITING,
    RUNNING,
    ENDED
  }

  /** The consumer's channel; null for an announced turn. */
  public final EngineChannel channel;

  final long id;
  public final EngineRequest spec;
  public final long sequence;
  public final ReplyRing ring;

  /** The slot of the request's session, or null. */
  public final CacheSlot slot;

  /** True if the request computes the beginning of a prompt ahead of its turn, and has no reply. */
  public final boolean ahead;

  public final RequestTokens tokens = new RequestTokens();
  public final RequestReply reply;
  public final RequestSteps steps = new RequestSteps(tokens);
  public final RequestPages pages = new RequestPages();
  public final RequestStanding standing = new RequestStanding();

  final AtomicBoolean listed = new AtomicBoolean();
  Request nextNews;
  private final AtomicReference<FinishReason> cancelled = new AtomicReference<>();
  private volatile boolean paused;
  private volatile boolean promptReady;

  private FinishReason refusalReason;
  private ReplyError refusal;
  private FinishReason finish;
  private boolean withdrawn;

  /**
   * @param slot the slot of its session, or null
   */
  public Request(
      EngineChannel channel,
      long id,
      EngineRequest spec,
      long sequence,
      int ringTokens,
      CacheSlot slot) {
    this(channel, id, spec, sequence, ringTokens, slot, false);
  }

  private Request(
      EngineChannel channel,
      long id,
      EngineRequest spec,
      long sequence,
      int ringTokens,
      CacheSlot slot,
      boolean ahead) {
    this.slot = slot;
    this.channel = channel;
    this.id = id;
    this.spec = spec;
    this.sequence = sequence;
    this.ahead = ahead;
    this.ring = new ReplyRing(ringTokens, spec.sampling().topLogprobs() >= 0);
    this.reply = new RequestReply(spec.tokens(), tokens);
  }

  /** Creates an announced turn: it has no reply, only a prompt whose pages are prepared. */
  public static Request expected(EngineRequest spec, long sequence, CacheSlot slot) {
    return new Request(null, -1, spec, sequence, 4, slot);
  }

  /**
   * Creates a request without reply that computes the beginning of the prompt of the turn after
   * {@code turn}, or of an announced {@code turn}.
   *
   * @param position a position whose tokens are the first of {@code ids}; null if unknown
   */
  public static Request ahead(Request turn, SessionPosition position, int[] ids) {
    Request request = new Request(turn.channel, -1, turn.spec, turn.sequence, 4, turn.slot, true);
    request.tokens.begin(ids, turn.tokens.publicTokens(), NONE, 0);
    request.pages.know(position == null ? turn.pages.known() : position.whole());
    request.pages.name(turn.isExpected() ? turn.pages.chain() : null);
    request.standing.run();
    return request;
  }

  // ---- how it ends

  /** Notes why the request is refused, before it runs. */
  public void refuse(FinishReason reason, ReplyError error) {
    refusalReason = reason;
    refusal = error;
  }

  /** Cancels the request; returns false if it was cancelled before. Any thread. */
  public boolean cancel(FinishReason reason) {
    return cancelled.compareAndSet(null, reason);
  }

  /** Withdraws an announcement, so that its pages are not pinned. */
  public void withdraw() {
    withdrawn = true;
  }

  /** Notes why the request ends. */
  public void finish(FinishReason reason) {
    finish = reason;
  }

  public FinishReason refusalReason() {
    return refusalReason;
  }

  /** Returns why the request is refused, or null. */
  public ReplyError refusal() {
    return refusal;
  }

  /** Returns why the request was cancelled, or null. Any thread. */
  public FinishReason cancelled() {
    return cancelled.get();
  }

  public boolean isWithdrawn() {
    return withdrawn;
  }

  public boolean hasFailed() {
    return finish == FinishReason.ERROR;
  }

  /** Returns whether the reply is complete; true for a request without a reply. */
  public boolean isComplete() {
    return ahead || finish == FinishReason.STOP || finish == FinishReason.LENGTH;
  }

  /** Returns whether the request is an announced turn, or computes its prompt. */
  public boolean isExpected() {
    return channel == null;
  }

  // ---- its consumer

  /** Notes that the prompt is ready, so that the consumer will be notified. Intake thread. */
  public void readyPrompt() {
    promptReady = true;
  }

  /** Returns true once after the prompt became ready. */
  boolean takeReadyPrompt() {
    if (!promptReady) {
      return false;
    }
    promptReady = false;
    return true;
  }

  /** Returns whether the ring has no room for another token. */
  private boolean isRingFull() {
    return ring.room() <= steps.pending();
  }

  /** Returns whether the request waits for its consumer. */
  public boolean isPaused() {
    return paused;
  }

  /** Pauses a request whose ring is full; its consumer wakes the engine later. */
  public boolean pauseIfBehind() {
    if (!isRingFull()) {
      paused = false;
      return false;
    }
    paused = true;
    if (isRingFull()) {
      return true;
    }
    paused = false;
    return false;
  }

  /** Returns whether the consumer of any paused request has caught up. */
  public static boolean anyCanResume(List<Request> requests) {
    for (int i = 0; i < requests.size(); i++) {
      if (requests.get(i).paused && !requests.get(i).isRingFull()) {
        return true;
      }
    }
    return false;
  }

  // ---- across its parts

  /** Returns whether the next token needs a mask that is not ready yet. */
  public boolean awaitsMask() {
    return reply.guide() != null && reply.guide().awaits(steps.pending());
  }

  /**
   * Returns how many drafts the next step of the request may verify.
   *
   * @param limit the most drafts to return
   */
  public int mostDrafts(int limit) {
    int pending = steps.pending();
    if (reply.drafter() == null || pending > 1) {
      return 0;
    }
    int left = Math.min(tokens.maxLength() - tokens.length(), ring.room()) - pending - 1;
    int most = Math.max(0, Math.min(limit, left));
    ReplyGuide guide = reply.guide();
    return most == 0 || guide == null ? most : guide.mostDrafts(pending, most);
  }

  /**
   * Returns how many tokens a waiting request has in common with the prompt of a running request.
   */
  public static int sharedTokens(Request waiting, Request running) {
    int limit = Math.min(waiting.tokens.length(), running.steps.prefillEnd());
    if (!waiting.spec.namespace().equals(running.spec.namespace())) {
      limit = Math.min(limit, Math.min(waiting.openTokens(), running.openTokens()));
    }
    int at = Arrays.mismatch(waiting.tokens.ids(), 0, limit, running.tokens.ids(), 0, limit);
    return at < 0 ? limit : at;
  }

  /** Returns how many tokens at the beginning requests of other namespaces may share. */
  private int openTokens() {
    boolean open = spec.namespace().equals(NamespaceKey.PUBLIC);
    return open ? tokens.length() : tokens.publicTokens();
  }

  /** Returns the cache key of the tokens so far. */
  public RadixKey keyIn(RadixCache cache) {
    return cache.keyOf(
        sequence, spec.namespace(), tokens.publicTokens(), tokens.ids(), tokens.length());
  }
}
