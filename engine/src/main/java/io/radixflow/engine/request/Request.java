package io.radixflow.engine.request;

import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.cache.PrefixMatch;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.session.CacheSlot;
import io.radixflow.engine.cache.session.SessionPosition;
import io.radixflow.engine.draft.Drafter;
import io.radixflow.engine.schedule.CrashJournal;
import io.radixflow.engine.tier.loadback.LoadBack;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.text.ReplyText;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A request inside the engine.
 *
 * <p>The first part is shared with other threads; the rest is set by the intake thread, then handed
 * over to the engine thread, which owns it from there.
 *
 * <p>Positions: {@code computed <= scheduled <= length + pending}. Of the sequence's {@code length}
 * known tokens, the first {@code scheduled} are submitted and the first {@code computed} are in the
 * pool; {@code pending} more have been asked of steps in flight. Rows of drafts come after {@code
 * scheduled}; right drafts then count as computed, and wrong ones are overwritten.
 */
public final class Request {
  /** {@link #suspectUntil} of a request against which nothing is held. */
  public static final int TRUSTED = -1;

  /** The stages of a request in the engine. */
  public enum State {
    INTAKE,
    WAITING,
    RUNNING,
    ENDED
  }

  /** The urgency of a request that was admitted by its age: no other preempts it. */
  public static final int AGED = Integer.MAX_VALUE;

  /** The consumer's channel; null for an announced turn. */
  public final EngineChannel channel;

  final long id;
  public final EngineRequest spec;
  public final long sequence;
  public final ReplyRing ring;
  public final CacheSlot slot;

  public final AtomicReference<FinishReason> cancelled = new AtomicReference<>();
  final AtomicBoolean listed = new AtomicBoolean();
  Request nextNews;
  public volatile boolean paused;

  /** True if the prompt is ready and its consumer has not been notified yet. */
  public volatile boolean promptReady;

  /** Its name in the {@link CrashJournal}. */
  public long journalName;

  /** Tokens up to which it runs alone, as it may end the process; or {@link #TRUSTED}. */
  public int suspectUntil = TRUSTED;

  public State state = State.INTAKE;
  public SessionPosition.Known known = SessionPosition.Known.NOTHING;
  public int[] tokens;
  public int length;
  public int promptLength;

  /** Tokens from the beginning that may be shared with other namespaces. */
  public int publicTokens;

  public int maxLength;
  public SamplingState sampling;

  /** Log probabilities of its prompt; null if they were not requested. */
  public PromptScores scores;

  /** True if no token is to be generated: the one that its prompt ends with is dropped. */
  public boolean promptOnly;

  public ReplyText text;

  /** The tokens that end its reply. */
  public int[] ends;

  /** Holds its reply to a grammar or a budget of reasoning; null for neither. */
  public ReplyGuide guide;

  /** Guesses what its reply says next; null if no step runs ahead of it. */
  public Drafter drafter;

  public FinishReason resumedEnd;
  public ReplyError refusal;
  public FinishReason refusalReason;

  public int computed;
  public int scheduled;
  public int pending;

  /** Drafts in the step in flight, which is its last until they are verified; see Drafter. */
  public int drafts;

  /** Tokens that were pending, and thus guessed, when that step was planned: 0 or 1. */
  public int draftsPending;

  public int prefillEnd;
  public StepTicket lastTicket;
  public int lastOutput;
  public int stepsInFlight;

  public int row = -1;
  public int pages;
  public int cachedPages;
  public TreeNode locked;
  public boolean admittedBefore;

  public Tenant tenant;

  /** Priority as the scheduler compares it, the highest first; {@link #AGED} once by age. */
  public int urgency;

  /** Its lap among the sessions of its tenant, or -1 before it waits; see {@link SessionLaps}. */
  public long lap = -1;

  /** Rank in the policy's order, the lowest first. */
  public long rank;

  /** The cached prefix as last looked up, and the version of the tree that it is of. */
  public PrefixMatch match;

  public long matchVersion;

  /** The cached prefix of which {@link #match} is what can be used. */
  public PrefixMatch found;

  /** Pages of its table whose window parts it has locked. */
  public int windowFrom;

  public int windowTo;

  /**
   * Pages in that range without a locked part, while pages are being loaded; see RequestWindows.
   */
  public int windowGapFrom;

  public int windowGapTo;

  /** Window parts that are reserved for it. */
  public int windowReserved;

  /**
   * Ends of prefixes, in pages, where other requests may continue: a prefix that it found, or a
   * prefix that another request awaits.
   */
  public int foundPages;

  public int awaitedEnd;

  /** Names of its pages in lower tiers; null without them. */
  public PageChain chain;

  /** The load-back of its pages from lower tiers, or null. */
  public LoadBack loadBack;

  /** The number of times it has looked for pages in lower tiers. */
  public int looks;

  /** The running request that computes a shared prefix, and how many pages that prefix has. */
  public Request awaited;

  public int awaitedPages;
  public int failures;
  public boolean failed;
  public boolean complete;
  public boolean ahead;

  /** True once its announcement was taken back, so that its pages are not pinned. */
  public boolean withdrawn;

  /**
   * @param slot its session's, or null
   */
  public Request(
      EngineChannel channel,
      long id,
      EngineRequest spec,
      long sequence,
      int ringTokens,
      CacheSlot slot) {
    this.slot = slot;
    this.channel = channel;
    this.id = id;
    this.spec = spec;
    this.sequence = sequence;
    this.ring = new ReplyRing(ringTokens, spec.sampling().topLogprobs() >= 0);
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
    Request request = new Request(turn.channel, -1, turn.spec, turn.sequence, 4, turn.slot);
    request.state = State.RUNNING;
    request.tokens = ids;
    request.length = ids.length;
    request.maxLength = ids.length;
    request.promptLength = ids.length;
    request.publicTokens = Math.min(turn.publicTokens, ids.length);
    request.known = position == null ? turn.known : position.whole();
    request.chain = turn.isExpected() ? turn.chain : null;
    request.complete = true;
    request.ahead = true;
    return request;
  }

  public void append(int token) {
    if (length == tokens.length) {
      tokens = Arrays.copyOf(tokens, Math.min(maxLength, 2 * length));
    }
    tokens[length++] = token;
  }

  /**
   * Takes the text of its next token, which a stop token has only if the reply shows what ends it.
   *
   * @return whether a stop string is complete
   */
  public boolean acceptText(int token) {
    boolean shown = spec.tokens().includesStop() || !isStopToken(token);
    return shown && text.accept(token);
  }

  /** Returns whether a token is one that the request itself named as an end. */
  public boolean isStopToken(int token) {
    List<Integer> stops = spec.tokens().stopTokenIds();
    return stops != null && stops.contains(token);
  }

  /** Returns the stop token that ended its reply; null if none did. */
  public Integer stopToken() {
    boolean ended = length > promptLength && text.stop() == null;
    return ended && isStopToken(tokens[length - 1]) ? tokens[length - 1] : null;
  }

  /** Returns whether a token ends its reply. */
  public boolean ends(int token) {
    for (int id : ends) {
      if (id == token) {
        return true;
      }
    }
    return false;
  }

  public int[] generatedTokens() {
    return Arrays.copyOfRange(tokens, promptLength, length);
  }

  /** Returns whether it is an announced turn, or computes the prompt of one. */
  public boolean isExpected() {
    return channel == null;
  }

  public boolean isSuspect() {
    return suspectUntil != TRUSTED;
  }

  public boolean isPrefilling() {
    return computed < prefillEnd;
  }

  /** Returns the number of rows that could be submitted now. */
  public int rowsAhead() {
    if (drafts > 0) {
      return 0; // the next input depends on how many drafts are right
    }
    return length + pending < maxLength ? length + pending - scheduled : 0;
  }

  /** Returns whether the mask is not known yet of the token that it would ask for next. */
  public boolean awaitsMask() {
    return guide != null && guide.awaits(pending);
  }

  /** Returns whether its consumer has fallen behind too far for another token. */
  boolean isRingFull() {
    return ring.room() <= pending;
  }

  /**
   * Returns how many drafts a step may verify that asks for its next token.
   *
   * @param limit more are not asked for
   */
  public int mostDrafts(int limit) {
    if (drafter == null || pending > 1) {
      return 0;
    }
    int left = Math.min(maxLength - length, ring.room()) - pending - 1;
    int most = Math.max(0, Math.min(limit, left));
    return most == 0 || guide == null ? most : guide.mostDrafts(pending, most);
  }

  /** Marks a request whose ring is full, so that its consumer wakes the engine. */
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

  /** Returns whether the consumer of a paused one of them has caught up. */
  public static boolean anyCanResume(List<Request> requests) {
    for (int i = 0; i < requests.size(); i++) {
      if (requests.get(i).paused && !requests.get(i).isRingFull()) {
        return true;
      }
    }
    return false;
  }

  /** Returns how many tokens of a running request's prompt a waiting one begins with. */
  public static int sharedTokens(Request waiting, Request running) {
    int limit = Math.min(waiting.length, running.prefillEnd);
    if (!waiting.spec.namespace().equals(running.spec.namespace())) {
      limit = Math.min(limit, Math.min(waiting.openTokens(), running.openTokens()));
    }
    int at = Arrays.mismatch(waiting.tokens, 0, limit, running.tokens, 0, limit);
    return at < 0 ? limit : at;
  }

  /** Tokens from the beginning that requests of other namespaces may share. */
  private int openTokens() {
    return spec.namespace().equals(NamespaceKey.PUBLIC) ? length : publicTokens;
  }

  /** Discards submitted tokens that were not computed. */
  public void rewind() {
    scheduled = computed;
    pending = 0;
    drafts = 0;
    lastTicket = null;
  }

  /** Returns the tokens it has so far, as a cache looks them up. */
  public RadixKey keyIn(RadixCache cache) {
    return cache.keyOf(sequence, spec.namespace(), publicTokens, tokens, length);
  }
}
