package io.radixflow.engine.request;

import io.radixflow.kernels.device.StepTicket;

/**
 * How far the steps of a request are. Engine thread only.
 *
 * <p>Positions: {@code computed <= scheduled <= length + pending}. Of the sequence's {@code length}
 * known tokens, the first {@code scheduled} are submitted and the first {@code computed} are in the
 * pool; {@code pending} more have been asked of steps in flight. Rows of drafts come after {@code
 * scheduled}; right drafts then count as computed, and wrong ones are overwritten.
 *
 * <p>Admission begins it, the plan of a step moves {@code scheduled}, the end of a step moves
 * {@code computed}, and a failure moves both back.
 */
public final class RequestSteps {
  private final RequestTokens tokens;
  private int computed;
  private int scheduled;
  private int pending;
  private int prefillEnd;
  private int inFlight;
  private int failures;

  /** Drafts in the step in flight, which is its last until they are verified; see Drafter. */
  private int drafts;

  /** Tokens that were pending, and thus guessed, when that step was planned: 0 or 1. */
  private int draftsPending;

  private StepTicket lastTicket;
  private int lastOutput;

  RequestSteps(RequestTokens tokens) {
    this.tokens = tokens;
  }

  // ---- admission

  /**
   * Begins the steps of a request that has got its pages.
   *
   * @param computed tokens that are in the pool, or on their way to it
   */
  public void begin(int computed) {
    this.computed = computed;
    prefillEnd = tokens.length();
    rewind();
  }

  /** The request has lost its pages: nothing is computed. */
  public void lose() {
    computed = 0;
    prefillEnd = 0;
    rewind();
  }

  // ---- the plan of a step

  /** Submits rows of known tokens, or the row of a token that is pending. */
  public void submit(int rows) {
    scheduled += rows;
    inFlight++;
  }

  /**
   * Asks the planned step for the next token.
   *
   * @param drafts guesses of the tokens after it, which the step verifies
   */
  public void ask(int drafts) {
    this.drafts = drafts;
    draftsPending = pending;
    pending++;
  }

  /** Notes where a submitted step puts the token that was asked for. */
  public void output(StepTicket ticket, int output) {
    lastTicket = ticket;
    lastOutput = output;
  }

  /** Begins a copy of pages to the device, which counts as a step in flight. */
  public void copy() {
    inFlight++;
  }

  // ---- the end of a step

  /** A step or a copy has ended. */
  public void end() {
    inFlight--;
  }

  /** The step that has ended computed the tokens before {@code end}. */
  public void succeed(int end) {
    computed = end;
    failures = 0;
  }

  /** The token that was asked for first is known. */
  public void answer() {
    pending--;
  }

  /** Takes the drafts that the step has verified; returns how many they were. */
  public int takeDrafts() {
    int taken = drafts;
    drafts = 0;
    return taken;
  }

  /** A draft was right: its row counts as computed, and gives a further token. */
  public void acceptDraft() {
    computed++;
    pending++;
  }

  /** The drafts are verified: the rows of wrong ones are submitted again. */
  public void settleDrafts() {
    scheduled = computed;
  }

  // ---- failures

  /** Discards submitted tokens that were not computed. */
  public void rewind() {
    scheduled = computed;
    pending = 0;
    drafts = 0;
    lastTicket = null;
  }

  /**
   * A copy has failed, so that the tokens from {@code end} on are not computed. Steps in flight
   * that have read them are undone when they end.
   */
  public void cut(int end) {
    computed = end;
    if (inFlight == 0) {
      rewind();
    }
  }

  /** Returns how often the request has failed alone, this time included. */
  public int fail() {
    return ++failures;
  }

  // ---- what others read

  public int computed() {
    return computed;
  }

  public int scheduled() {
    return scheduled;
  }

  /** Returns how many tokens have been asked of steps in flight. */
  public int pending() {
    return pending;
  }

  /** Returns the number of steps in flight, a copy of pages included. */
  public int inFlight() {
    return inFlight;
  }

  /** Returns the tokens that were known at admission. */
  public int prefillEnd() {
    return prefillEnd;
  }

  /** Returns the end of the rows in flight, drafts included. */
  public int submittedEnd() {
    return scheduled + drafts;
  }

  /** Returns how many of the drafts in flight stand for tokens that were pending: 0 or 1. */
  public int draftsPending() {
    return draftsPending;
  }

  public StepTicket lastTicket() {
    return lastTicket;
  }

  public int lastOutput() {
    return lastOutput;
  }

  /** Returns whether rows of the prompt are not computed. */
  public boolean isPrefilling() {
    return computed < prefillEnd;
  }

  /** Returns whether all rows of the prompt are submitted. */
  public boolean isDecoding() {
    return scheduled >= prefillEnd;
  }

  /** Returns the number of rows that could be submitted now. */
  public int rowsAhead() {
    if (drafts > 0) {
      return 0; // the next input depends on how many drafts are right
    }
    int known = tokens.length() + pending;
    return known < tokens.maxLength() ? known - scheduled : 0;
  }
}
