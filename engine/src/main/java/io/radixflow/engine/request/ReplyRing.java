package io.radixflow.engine.request;

import io.radixflow.engine.ReplyProgress;
import io.radixflow.engine.ReplyProgress.TokenLogprob;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.TierUsage;
import java.util.ArrayList;
import java.util.List;

/**
 * A bounded ring of one request's tokens for its consumer, with one writer and one reader. The
 * ending is written last.
 *
 * <p>{@code tail} is written by the engine only, {@code head} by the consumer only; each entry is
 * written before the tail that covers it.
 */
public final class ReplyRing {

  /** The end of a request, and the text that was held back until then. */
  private record Ending(
      FinishReason reason, String text, String stop, Integer stopToken, ReplyError error) {}

  private final int[] tokens;
  private final String[] texts;
  private final TokenLogprob[] logprobs;
  private volatile long tail;
  private volatile long head;
  private volatile Ending ending;

  private final long createdNanos = System.nanoTime();
  private volatile int queuedMillis = -1;
  private volatile int promptTokens;
  private volatile int cachedTokens;
  private volatile TierUsage tiers = TierUsage.NONE;
  private volatile int foretold;
  private volatile int predicted;

  /** Log probabilities of the prompt, until the consumer has taken them. */
  private volatile List<TokenLogprob> prompt = List.of();

  private List<String> warnings = List.of();

  /**
   * Tokens of the prompt that were cached or have been computed; -1 if the consumer did not ask.
   */
  private volatile int promptDone = -1;

  /** The value of {@link #promptDone} that the consumer got last. */
  private int promptShown = -1;

  private int tokenOffset;
  private int textOffset;
  private boolean ended;

  /**
   * @param capacity entries
   * @param withLogprobs whether entries carry log probabilities
   */
  ReplyRing(int capacity, boolean withLogprobs) {
    tokens = new int[capacity];
    texts = new String[capacity];
    logprobs = withLogprobs ? new TokenLogprob[capacity] : null;
  }

  /** Sets where progress starts; before the ring is shared. */
  public void startAt(int promptLength, int tokenCount, int codePoints) {
    promptTokens = promptLength;
    tokenOffset = tokenCount;
    textOffset = codePoints;
  }

  /** Sets the constraints that the grammar cannot enforce; before the ring is shared. */
  public void warn(List<String> notices) {
    warnings = notices;
  }

  /**
   * Records that the request is admitted, and how much of its prompt was cached. Only the writer
   * calls this and the methods up to {@link #end}.
   */
  public void admitted(int count, TierUsage fromTiers) {
    queuedMillis =
        (int) Math.min(Integer.MAX_VALUE, (System.nanoTime() - createdNanos) / 1_000_000);
    tiers = fromTiers;
    cachedTokens = count;
  }

  /**
   * Records how many tokens of the reply were predicted right, and the length of the prediction.
   */
  public void foretold(int count, int predictionTokens) {
    foretold = Math.min(count, predictionTokens);
    predicted = predictionTokens;
  }

  /** Passes on the log probabilities of the prompt, before the first token of the reply. */
  public void scored(List<TokenLogprob> entries) {
    prompt = entries;
  }

  /** Records how many tokens of the prompt are computed, for a consumer that asked for this. */
  public void prefilled(int tokens) {
    promptDone = Math.min(tokens, promptTokens);
  }

  int room() {
    return (int) (tokens.length - (tail - head));
  }

  public void put(int token, String text, TokenLogprob logprob) {
    long at = tail;
    int slot = (int) (at % tokens.length);
    tokens[slot] = token;
    texts[slot] = text;
    if (logprobs != null) {
      logprobs[slot] = logprob;
    }
    tail = at + 1;
  }

  /**
   * Ends the request.
   *
   * @param stop the stop string that ended it, or null
   * @param stopToken the stop token that ended it, or null
   */
  public void end(
      FinishReason reason, String text, String stop, Integer stopToken, ReplyError error) {
    ending = new Ending(reason, text, stop, stopToken, error);
  }

  /** Returns all progress since the last call, or null if there is none. */
  ReplyProgress take() {
    Ending end = ending;
    long from = head;
    int count = (int) (tail - from);
    int done = promptDone;
    if (ended || count == 0 && end == null && done == promptShown) {
      return null;
    }
    promptShown = done;
    int[] ids = new int[count];
    StringBuilder text = new StringBuilder();
    List<TokenLogprob> probabilities = logprobs == null ? List.of() : new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      int slot = (int) ((from + i) % tokens.length);
      ids[i] = tokens[slot];
      text.append(texts[slot]);
      texts[slot] = null;
      if (logprobs != null) {
        probabilities.add(logprobs[slot]);
      }
    }
    head = from + count;
    List<TokenLogprob> ofPrompt = prompt;
    prompt = List.of();
    if (end != null) {
      text.append(end.text);
      ended = true;
    }
    int firstToken = tokenOffset;
    int firstCodePoint = textOffset;
    tokenOffset += count;
    textOffset += text.codePointCount(0, text.length());
    return new ReplyProgress(
        firstToken,
        ids,
        firstCodePoint,
        text.toString(),
        probabilities,
        end == null ? null : end.reason,
        end == null ? null : end.stop,
        queuedMillis,
        new Usage(
            promptTokens, cachedTokens, tokenOffset, tiers, 0, foretold, predicted - foretold),
        end == null ? null : end.error,
        end == null ? null : end.stopToken,
        ofPrompt,
        warnings,
        done);
  }
}
