package io.radixflow.operators.flink.turn.run;

import io.radixflow.engine.ReplyProgress;
import io.radixflow.operators.flink.turn.end.TurnResult;
import io.radixflow.operators.prompt.PromptAssembly;
import io.radixflow.operators.prompt.ReplyParts;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.TurnPlan;
import io.radixflow.operators.session.TurnProgress;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.TokenOptions;
import io.radixflow.protocol.record.TurnTiming;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.TierUsage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** A turn that the engine works on, and the reply so far. Only the task's thread uses it. */
final class RunningTurn implements TurnResult {
  final TurnQueues.Branch branch;

  /** Id of its request in the engine; -1 before it is submitted. */
  long requestId = -1;

  /** Milliseconds from its acceptance until it was submitted to the engine, or -1. */
  long startedMillis = -1;

  /** Milliseconds from its acceptance until its first token arrived, or -1. */
  long firstTokenMillis = -1;

  /** When it ended, in milliseconds since the epoch, or 0. */
  private long endedMillis;

  private final PendingTurn pending;
  private final TurnPlan plan;

  private final PromptAssembly assembly;
  private final Function<Prompt, ReplyParts> reader;
  private final Logprobs form;
  private final List<Reply.TokenLogprob> logprobs = new ArrayList<>();
  private final StringBuilder text = new StringBuilder();

  /**
   * Log probabilities of the prompt's tokens except the first; empty if not requested or not known
   * yet.
   */
  private List<Reply.TokenLogprob> promptLogprobs = List.of();

  private boolean promptLogprobsSaved;

  /** The prompt's tokens as deltas show them; null if they are not shown or not known yet. */
  private List<PromptTokens> promptPieces;

  private boolean promptShown;
  private Prompt prompt;
  private int[] tokens = new int[64];
  private int tokenCount;
  private int codePoints;
  private ReplyParts parts = ReplyParts.plain();
  private int cachedTokens;
  private int engineQueuedMillis = -1;

  /**
   * Tokens of the prompt that were cached or have been computed; -1 if deltas do not show the
   * progress.
   */
  private int promptDone = -1;

  /** The last value of {@link #promptDone} in a delta. */
  private int promptDoneShown = -1;

  /** The tiers that this attempt's prompt came from. */
  private TierUsage tiers = TierUsage.NONE;

  private int acceptedPrediction;
  private int rejectedPrediction;

  private String stopReason;
  private Integer stopToken;
  private List<String> warnings = List.of();
  private int shownTokens;
  private boolean countsShown;
  private boolean promptSaved;
  private int savedTokens;
  private int savedChars;
  private int savedLogprobs;

  /**
   * @param assembly makes the prompt; null if {@code gained} has the prompt
   * @param gained the progress of an earlier attempt
   * @param reader creates the reader of the reply to a prompt
   * @param form converts log probabilities
   */
  RunningTurn(
      TurnQueues.Branch branch,
      PendingTurn pending,
      TurnPlan plan,
      PromptAssembly assembly,
      List<TurnProgress> gained,
      Function<Prompt, ReplyParts> reader,
      Logprobs form) {
    this.branch = branch;
    this.pending = pending;
    this.plan = plan;
    this.assembly = assembly;
    this.reader = reader;
    this.form = form;
    for (TurnProgress piece : gained) {
      prompt = piece.prompt() == null ? prompt : piece.prompt();
      addTokens(piece.tokens());
      text.append(piece.text());
      logprobs.addAll(piece.logprobs());
      promptLogprobs = piece.promptLogprobs() == null ? promptLogprobs : piece.promptLogprobs();
      cachedTokens = piece.cachedTokens();
      shownTokens = piece.shownTokens();
    }
    codePoints = text.codePointCount(0, text.length());
    if (prompt != null) {
      parts = reader.apply(prompt);
      parts.count(tokens());
      parts.accept(text.toString());
      parts.take(); // an earlier attempt has shown them
    }
    markSaved();
    promptSaved = prompt != null;
    promptLogprobsSaved = !promptLogprobs.isEmpty();
  }

  @Override
  public PendingTurn pending() {
    return pending;
  }

  @Override
  public TurnPlan plan() {
    return plan;
  }

  @Override
  public long endedMillis() {
    return endedMillis;
  }

  /**
   * @param millis since the epoch
   */
  void endedAt(long millis) {
    endedMillis = millis;
  }

  /** Returns the assembly of the prompt; null if an earlier attempt has made the prompt. */
  PromptAssembly assembly() {
    return assembly;
  }

  @Override
  public Prompt prompt() {
    return prompt;
  }

  @Override
  public int[] tokens() {
    return Arrays.copyOf(tokens, tokenCount);
  }

  @Override
  public String text() {
    return text.toString();
  }

  @Override
  public ReplyParts parts() {
    return parts;
  }

  /** Returns the log probabilities of all tokens so far; empty if not requested. */
  List<Reply.TokenLogprob> logprobs() {
    return List.copyOf(logprobs);
  }

  /**
   * Returns the log probabilities of the tokens that deltas have covered; empty if not requested.
   */
  List<Reply.TokenLogprob> shownLogprobs() {
    return List.copyOf(logprobs.subList(0, Math.min(shownTokens, logprobs.size())));
  }

  /**
   * Returns the log probabilities of the tokens that no delta has covered yet; null if not
   * requested.
   */
  List<Reply.TokenLogprob> newLogprobs() {
    return plan.options().sampling().topLogprobs() < 0
        ? null
        : List.copyOf(logprobs.subList(Math.min(shownTokens, logprobs.size()), logprobs.size()));
  }

  @Override
  public Usage usage() {
    return new Usage(
        prompt == null ? 0 : prompt.ids().length,
        cachedTokens,
        tokenCount,
        tiers,
        parts.reasoningTokens(),
        acceptedPrediction,
        rejectedPrediction);
  }

  /**
   * Returns the milliseconds from acceptance until the engine admitted the turn, or -1 if unknown.
   */
  long queuedMillis() {
    return engineQueuedMillis < 0 ? -1 : startedMillis + engineQueuedMillis;
  }

  /**
   * Returns how long the turn took so far. Null if the engine has not admitted the turn, or if an
   * earlier attempt computed its prompt.
   *
   * @param millis since the turn was accepted
   * @param promptEnded whether the whole prompt is computed, even if no token has come
   */
  TurnTiming timing(long millis, boolean promptEnded) {
    long queued = queuedMillis();
    boolean begun = firstTokenMillis >= 0;
    if (queued < 0 || prompt == null || isBegun() && !begun) {
      return null;
    }
    long until = begun ? firstTokenMillis : millis;
    return new TurnTiming(
        begun || promptEnded ? prompt.ids().length : Math.max(promptDone, cachedTokens),
        queued,
        Math.max(0, until - queued),
        Math.max(0, millis - until));
  }

  /** Returns whether {@link #promptDone} has grown since the last call. */
  boolean takePromptDone() {
    boolean further = promptDone > promptDoneShown && !isBegun();
    promptDoneShown = promptDone;
    return further;
  }

  @Override
  public String stopReason() {
    return stopReason;
  }

  /** Returns the stop token that ended the reply, or null. */
  Integer stopToken() {
    return stopToken;
  }

  /** Returns the constraints of the event that the reply may violate; null for none. */
  List<String> warnings() {
    return warnings.isEmpty() ? null : warnings;
  }

  /**
   * Returns whether an earlier attempt has generated tokens, so that the prompt has been computed
   * before.
   */
  boolean isBegun() {
    return tokenCount > 0;
  }

  /** Cuts the prompt's tokens into pieces, once, if the turn shows them. */
  private void cutPrompt() {
    TokenOptions options = plan.options().tokens();
    if (promptPieces == null && prompt != null && options.showsPrompt()) {
      promptPieces = PromptPieces.of(prompt.ids(), options, promptLogprobs, form);
    }
  }

  /** Returns the pieces of the prompt that no delta of this attempt has shown yet. */
  List<PromptTokens> takePrompt() {
    boolean taken = promptShown || promptPieces == null;
    promptShown = true;
    return taken ? List.of() : promptPieces;
  }

  /** Returns the prompt's tokens; null if they are not shown. */
  PromptTokens promptTokens() {
    return promptPieces == null ? null : PromptTokens.joined(promptPieces);
  }

  /** Returns the ids of the reply's tokens from a position on; null if they are not shown. */
  List<Integer> tokenIds(int from) {
    return plan.options().tokens().showsTokenIds()
        ? Arrays.stream(tokens, from, tokenCount).boxed().toList()
        : null;
  }

  /** Returns the number of tokens that deltas have covered so far. */
  int shownTokens() {
    return shownTokens;
  }

  /** Returns the number of tokens that no delta has covered yet. */
  int unshownTokens() {
    return tokenCount - shownTokens;
  }

  /**
   * Returns the token counts so far for this attempt's first delta; {@link Usage#NONE} for later
   * deltas.
   */
  Usage firstCounts() {
    Usage counts = countsShown ? Usage.NONE : usage();
    countsShown = true;
    return counts;
  }

  /** Called when a delta has covered all tokens so far. */
  void markShown() {
    shownTokens = tokenCount;
  }

  /** Takes the prompt from its assembly if it has been made. */
  void promptMade() {
    Prompt made = prompt == null ? assembly.prompt() : null;
    if (made != null) {
      prompt = made;
      parts = reader.apply(made);
    }
  }

  /**
   * Adds progress. The engine counts from where an earlier attempt was saved.
   *
   * @throws IllegalStateException if the progress does not continue the tokens so far
   */
  void add(ReplyProgress progress) {
    if (progress.tokenOffset() != tokenCount || progress.textOffset() != codePoints) {
      throw new IllegalStateException(
          "progress at token %d, code point %d does not continue token %d, code point %d"
              .formatted(progress.tokenOffset(), progress.textOffset(), tokenCount, codePoints));
    }
    addTokens(progress.tokens());
    text.append(progress.text());
    codePoints += progress.text().codePointCount(0, progress.text().length());
    parts.count(progress.tokens());
    parts.accept(progress.text());
    logprobs.addAll(form.of(progress.logprobs()));
    List<Reply.TokenLogprob> ofPrompt = form.of(progress.prompt());
    promptLogprobs = ofPrompt.isEmpty() ? promptLogprobs : ofPrompt;
    stopReason = progress.stop();
    stopToken = progress.stopToken();
    warnings = progress.warnings();
    engineQueuedMillis = progress.queuedMillis();
    promptDone = Math.max(promptDone, progress.promptDone());
    if (progress.usage() != null) {
      cachedTokens = progress.usage().cachedTokens();
      tiers = progress.usage().tiers();
      acceptedPrediction = progress.usage().acceptedPredictionTokens();
      rejectedPrediction = progress.usage().rejectedPredictionTokens();
    }
    cutPrompt();
  }

  @Override
  public boolean isSaved() {
    return promptSaved;
  }

  /**
   * Returns the progress since the last call, or null if there is none.
   *
   * @param model fingerprint of the model that generates the reply
   */
  TurnProgress takeUnsaved(String model) {
    if (prompt == null || (promptSaved && savedTokens == tokenCount)) {
      return null;
    }
    TurnProgress gained =
        new TurnProgress(
            promptSaved ? null : prompt,
            Arrays.copyOfRange(tokens, savedTokens, tokenCount),
            text.substring(savedChars),
            new ArrayList<>(logprobs.subList(savedLogprobs, logprobs.size())),
            cachedTokens,
            shownTokens,
            promptSaved ? null : model,
            promptLogprobsSaved || promptLogprobs.isEmpty() ? null : promptLogprobs);
    promptSaved = true;
    promptLogprobsSaved = !promptLogprobs.isEmpty();
    markSaved();
    return gained;
  }

  private void markSaved() {
    savedTokens = tokenCount;
    savedChars = text.length();
    savedLogprobs = logprobs.size();
  }

  private void addTokens(int[] more) {
    if (tokenCount + more.length > tokens.length) {
      tokens = Arrays.copyOf(tokens, Math.max(2 * tokens.length, tokenCount + more.length));
    }
    System.arraycopy(more, 0, tokens, tokenCount, more.length);
    tokenCount += more.length;
  }
}
