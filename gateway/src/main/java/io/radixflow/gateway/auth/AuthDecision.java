package io.radixflow.gateway.auth;

/**
 * The decision whether a request may continue, and its sender.
 *
 * @param outcome the decision
 * @param caller null unless the request is admitted
 * @param retryAfterSeconds when a request over a limit may try again
 * @param release ends the request's use of the limits; call it once, when the response is complete
 */
public record AuthDecision(
    Outcome outcome, Caller caller, int retryAfterSeconds, Runnable release) {

  private static final Runnable NOTHING = () -> {};

  /** The decision on a request. */
  public enum Outcome {
    ADMITTED,
    /** The key is missing or wrong. */
    UNKNOWN_KEY,
    /** The key has no more requests left for this minute. */
    TOO_MANY_REQUESTS,
    /** The key has too many requests in progress. */
    TOO_MANY_CONCURRENT
  }

  static AuthDecision admitted(Caller caller, Runnable release) {
    return new AuthDecision(Outcome.ADMITTED, caller, 0, release);
  }

  static AuthDecision refused(Outcome outcome, int retryAfterSeconds) {
    return new AuthDecision(outcome, null, retryAfterSeconds, NOTHING);
  }

  /** Returns this admission with another action for its release. */
  public AuthDecision alsoReleasing(Runnable more) {
    Runnable both =
        () -> {
          release.run();
          more.run();
        };
    return new AuthDecision(outcome, caller, retryAfterSeconds, both);
  }

  /** Returns an admission without a key and without limits. */
  public static AuthDecision anonymous() {
    return admitted(Caller.ANONYMOUS, NOTHING);
  }
}
