package io.radixflow.engine.request;

/**
 * A request as the scheduler sees it: its stage, its position among the waiting requests, and
 * whether the crash journal suspects it. Only the scheduler's package changes it. The thread that
 * submits the request sets the suspicion; everything else belongs to the engine thread.
 */
public final class RequestStanding {
  /**
   * The urgency of a request that was admitted because of its age: no other request preempts it.
   */
  public static final int AGED = Integer.MAX_VALUE;

  private static final int TRUSTED = -1;

  private Request.State state = Request.State.INTAKE;
  private boolean admittedBefore;
  private Tenant tenant;
  private int urgency;
  private long lap = -1;
  private long rank;
  private Request awaited;
  private int awaitedPages;
  private long journalName;
  private int suspectUntil = TRUSTED;

  // ---- its stage

  /** Notes that the request waits for pages, for the first time or again. */
  public void await() {
    state = Request.State.WAITING;
  }

  /**
   * Notes that the request runs.
   *
   * @return whether the request runs for the first time
   */
  public boolean run() {
    boolean first = !admittedBefore;
    state = Request.State.RUNNING;
    admittedBefore = true;
    return first;
  }

  public void end() {
    state = Request.State.ENDED;
  }

  public Request.State state() {
    return state;
  }

  public boolean isRunning() {
    return state == Request.State.RUNNING;
  }

  public boolean hasEnded() {
    return state == Request.State.ENDED;
  }

  /** Returns whether the request has run before, so that it now waits because of a preemption. */
  public boolean wasAdmitted() {
    return admittedBefore;
  }

  // ---- its position

  /**
   * Assigns the request to a tenant.
   *
   * @param urgency the priority for the scheduler; a higher value runs first
   */
  public void join(Tenant tenant, int urgency) {
    this.tenant = tenant;
    this.urgency = urgency;
  }

  /** Notes that the request is admitted because of its age. */
  public void age() {
    urgency = AGED;
  }

  void enterLap(long lap) {
    this.lap = lap;
  }

  /** Sets its rank in the policy's order, the lowest first. */
  public void rank(long rank) {
    this.rank = rank;
  }

  /**
   * Makes the request wait for a prefix that another request computes.
   *
   * @param running the other request
   * @param pages number of pages of the prefix
   */
  public void awaitPrefix(Request running, int pages) {
    awaited = running;
    awaitedPages = pages;
  }

  /** Notes that the request does not wait for the prefix of another request. */
  public void awaitNoPrefix() {
    awaited = null;
  }

  /** Returns the tenant; null before the request waits for the first time. */
  public Tenant tenant() {
    return tenant;
  }

  /** Returns its priority for the scheduler, or {@link #AGED}; a higher value runs first. */
  public int urgency() {
    return urgency;
  }

  /**
   * Returns its lap among the sessions of its tenant, or -1 if it has none yet; see {@link
   * SessionLaps}.
   */
  long lap() {
    return lap;
  }

  /** Returns its rank in the policy's order, the lowest first. */
  long rank() {
    return rank;
  }

  /** Returns the running request whose prefix this request waits for, or null. */
  public Request awaited() {
    return awaited;
  }

  /** Returns how many pages the awaited prefix has. */
  public int awaitedPages() {
    return awaitedPages;
  }

  // ---- its suspicion

  /** Sets its name in the crash journal. */
  public void name(long journalName) {
    this.journalName = journalName;
  }

  /**
   * Makes the request run alone up to {@code tokens} tokens, because it may crash the process
   * before then.
   */
  public void suspect(int tokens) {
    suspectUntil = tokens;
  }

  /** Lets the request run with others. */
  public void trust() {
    suspectUntil = TRUSTED;
  }

  /** Returns its name in the crash journal. */
  public long journalName() {
    return journalName;
  }

  public boolean isSuspect() {
    return suspectUntil != TRUSTED;
  }

  /** Returns the number of tokens up to which the request runs alone. */
  public int suspectUntil() {
    return suspectUntil;
  }
}
