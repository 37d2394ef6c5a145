package io.radixflow.engine.request;

import io.radixflow.kernels.device.StepTicket;

/**
 * The progress of a request's steps. Engine thread only.
 *
 * <p>Positions: {@code computed <= scheduled <= length + pending}. Of the sequence's {@code length}
 * known tokens, the first {@code scheduled} are submitted and the first {@code computed} are in the
 * pool; steps in flight will give {@code pending} more. Rows of drafts come after {@code
 * scheduled}. Right drafts then count as computed, and wrong drafts are overwritten.
 *
 * <p>Admission sets the start, the plan of a step moves {@code scheduled}, the end of a step moves
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

  /** Drafts in the step in flight. The request has no later step until they are verified. */
  private int drafts;

  /** Tokens that were pending, and therefore guessed, when that step was planned: 0 or 1. */
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
   * @param computed tokens that are in the pool or are being copied to it
   */
  public void begin(int computed) {
    this.computed = computed;
    prefillEnd = tokens.length();
    rewind();
  }

  /** Called when the request has lost its pages: no token counts as computed. */
  public void lose() {
    computed = 0;
    prefillEnd = 0;
    rewind();
  }

  // ---- the plan of a step

  /** Counts submitted rows: rows of known tokens, or the row of a pending token. */
  public void submit(int rows) {
    scheduled += rows;
    inFlight++;
  }

  /**
   * Counts a request for the next token in the planned step.
   *
   * @param drafts guesses of the tokens after it, which the step verifies
   */
  public void ask(int drafts) {
    this.drafts = drafts;
    draftsPending = pending;
    pending++;
  }

  /** Notes the output of a submitted step that will contain the next token. */
  public void output(StepTicket ticket, int output) {
    lastTicket = ticket;
    lastOutput = output;
  }

  /** Starts a copy of pages to the device, which counts as a step in flight. */
  public void copy() {
    inFlight++;
  }

  // ---- the end of a step

  /** Called when a step or a copy has ended. */
  public void end() {
    inFlight--;
  }

  /** Called when a step has computed the tokens before {@code end}. */
  public void succeed(int end) {
    computed = end;
    failures = 0;
  }

  /** Called when the first pending token is known. */
  public void answer() {
    pending--;
  }

  /** Clears the number of drafts that the step has verified, and returns it. */
  public int takeDrafts() {
    int taken = drafts;
    drafts = 0;
    return taken;
  }

  /** Called when a draft was right: its row counts as computed and gives another token. */
  public void acceptDraft() {
    computed++;
    pending++;
  }

  /** Called when all drafts are verified: the rows of wrong drafts must be submitted again. */
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
   * Called when a copy has failed, so that the tokens from {@code end} on are not computed. Steps
   * in flight that have read them are undone when they end.
   */
  public void cut(int end) {
    computed = end;
    if (inFlight == 0) {
      rewind();
    }
  }

  /** Counts a failure of the request alone, and returns the number of such failures. */
  public int fail() {
    return ++failures;
  }

  // ---- queries

  public int computed() {
    return computed;
  }

  public int scheduled() {
    return scheduled;
  }

  /** Returns how many tokens steps in flight will give. */
  public int pending() {
    return pending;
  }

  /** Returns the number of steps in flight, a copy of pages included. */
  public int inFlight() {
    return inFlight;
  }

  /** Returns the number of tokens that were known at admission. */
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
