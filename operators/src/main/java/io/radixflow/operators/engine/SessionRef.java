package io.radixflow.operators.engine;

/**
 * Which conversation a request is a turn of.
 *
 * @param tenant the tenant whose bounds its cached pages count for; empty for the default tenant
 * @param session id, unique among all tenants
 * @param branch branch of the session
 * @param next computes what the branch's next prompt begins with; null if that is this turn's
 *     prompt and reply as they are
 */
public record SessionRef(String tenant, String session, String branch, NextPrompt next) {

  /** Knows what the next prompt keeps of a turn. */
  @FunctionalInterface
  public interface NextPrompt {
    /**
     * The ids that the next prompt begins with, whatever is said in it. Runs on an intake thread,
     * once the turn has ended.
     *
     * @param reply ids of the reply as generated
     * @return null if that is prompt and reply as they are
     */
    int[] ids(int[] reply);
  }

  /** Creates the reference of a branch whose prompts only grow. */
  public SessionRef(String tenant, String session, String branch) {
    this(tenant, session, branch, null);
  }
}
