package io.radixflow.engine;

/**
 * The conversation to which a request belongs as a turn.
 *
 * @param tenant the tenant whose cache limits apply to the session's pages; empty for the default
 *     tenant
 * @param session id, unique among all tenants
 * @param branch branch of the session
 * @param next computes the beginning of the branch's next prompt; null if the next prompt begins
 *     with this turn's prompt and reply as they are
 */
public record SessionRef(String tenant, String session, String branch, NextPrompt next) {

  /** Computes which part of a turn the next prompt keeps. */
  @FunctionalInterface
  public interface NextPrompt {
    /**
     * Returns the ids with which the next prompt begins, regardless of its messages. Runs on an
     * intake thread after the turn has ended.
     *
     * @param reply ids of the reply as generated
     * @return null if the next prompt begins with prompt and reply as they are
     */
    int[] ids(int[] reply);
  }

  /** Creates the reference of a branch whose prompts only grow. */
  public SessionRef(String tenant, String session, String branch) {
    this(tenant, session, branch, null);
  }
}
