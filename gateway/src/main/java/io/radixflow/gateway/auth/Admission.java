package io.radixflow.gateway.auth;

/**
 * Whether a request may go on, and who sends it.
 *
 * @param outcome what became of it
 * @param caller null unless it is admitted
 * @param retryAfterSeconds when a request over a limit may try again
 * @param release ends the request's use of the limits; call it once, when the response is complete
 */
public record Admission(Outcome outcome, Caller caller, int retryAfterSeconds, Runnable release) {

  private static final Runnable NOTHING = () -> {};

  /** The decision on a request. */
  public enum Outcome {
    ADMITTED,
    /** There is no key, or a wrong one. */
    UNKNOWN_KEY,
    /** The key's requests of a minute are used up. */
    TOO_MANY_REQUESTS,
    /** The key has too many requests that go on. */
    TOO_MANY_CONCURRENT
  }

  static Admission admitted(Caller caller, Runnable release) {
    return new Admission(Outcome.ADMITTED, caller, 0, release);
  }

  static Admission refused(Outcome outcome, int retryAfterSeconds) {
    return new Admission(outcome, null, retryAfterSeconds, NOTHING);
  }

  /** Returns this admission, with more to release at its end. */
  public Admission alsoReleasing(Runnable more) {
    Runnable both =
        () -> {
          release.run();
          more.run();
        };
    return new Admission(outcome, caller, retryAfterSeconds, both);
  }

  /** Returns the admission of anybody, without limits. */
  public static Admission anonymous() {
    return admitted(Caller.ANONYMOUS, NOTHING);
  }
}
