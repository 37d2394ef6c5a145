package io.radixflow.engine.request;

/**
 * The standing of a request with the scheduler: its stage, its place among the waiting requests,
 * and what the crash journal holds against it. Only the scheduler's package changes it. The
 * suspicion is set on the thread that submits the request; all else belongs to the engine thread.
 */
public final class RequestStanding {
  /** The urgency of a request that was admitted by its age: no other preempts it. */
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

  /** Notes that it waits for pages, for the first time or again. */
  public void await() {
    state = Request.State.WAITING;
  }

  /**
   * Notes that it runs.
   *
   * @return whether it runs for the first time
   */
  public boolean run() {
    boolean first = !admittedBefore;
    state = Request.State.RUNNING;
    admittedBefore = true;
    return first;
  }

  /** Notes that it has ended. */
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

  /** Returns whether it has run before, so that a wait now follows a preemption. */
  public boolean wasAdmitted() {
    return admittedBefore;
  }

  // ---- its place

  /**
   * Joins a tenant.
   *
   * @param urgency the priority as the scheduler compares it, the highest first
   */
  public void join(Tenant tenant, int urgency) {
    this.tenant = tenant;
    this.urgency = urgency;
  }

  /** Notes that its age admits it. */
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
   * Has it wait for a prefix that another request computes.
   *
   * @param running the other request
   * @param pages the pages of the prefix
   */
  public void awaitPrefix(Request running, int pages) {
    awaited = running;
    awaitedPages = pages;
  }

  /** Notes that it waits for no other request's prefix. */
  public void awaitNoPrefix() {
    awaited = null;
  }

  /** Returns its tenant; null before it waits for the first time. */
  public Tenant tenant() {
    return tenant;
  }

  /** Returns its priority as the scheduler compares it, the highest first; or {@link #AGED}. */
  public int urgency() {
    return urgency;
  }

  /** Returns its lap among the sessions of its tenant, or -1 before; see {@link SessionLaps}. */
  long lap() {
    return lap;
  }

  /** Returns its rank in the policy's order, the lowest first. */
  long rank() {
    return rank;
  }

  /** Returns the running request that computes a prefix it waits for; or null. */
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

  /** Has it run alone up to {@code tokens} tokens, as it may end the process before. */
  public void suspect(int tokens) {
    suspectUntil = tokens;
  }

  /** Lets it run with others. */
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

  /** Returns the tokens up to which it runs alone. */
  public int suspectUntil() {
    return suspectUntil;
  }
}
