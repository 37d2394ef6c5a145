package io.radixflow.engine.request;

import java.util.Arrays;

/**
 * The tokens of a request: its prompt, then its reply so far. The intake thread sets the first
 * tokens; the engine thread appends tokens.
 */
public final class RequestTokens {
  /** Initial room for tokens of a reply. */
  private static final int REPLY_ROOM = 64;

  private int[] ids = {};
  private int length;
  private int promptLength;
  private int publicTokens;
  private int maxLength;

  /**
   * Sets the prompt, and the tokens of the reply that an earlier attempt has generated.
   *
   * @param publicTokens number of tokens at the beginning that may be shared with other namespaces
   * @param resumed the generated tokens; at most {@code maxTokens} are used
   * @param maxTokens the most tokens of the reply
   */
  public void begin(int[] prompt, int publicTokens, int[] resumed, int maxTokens) {
    promptLength = prompt.length;
    maxLength = prompt.length + maxTokens;
    length = prompt.length + Math.min(resumed.length, maxTokens);
    this.publicTokens = Math.min(publicTokens, prompt.length);
    ids = Arrays.copyOf(prompt, Math.min(maxLength, length + REPLY_ROOM));
    System.arraycopy(resumed, 0, ids, promptLength, length - promptLength);
  }

  public void append(int token) {
    if (length == ids.length) {
      ids = Arrays.copyOf(ids, Math.min(maxLength, 2 * length));
    }
    ids[length++] = token;
  }

  /** Drops the tokens from {@code end} on. */
  public void cut(int end) {
    length = end;
  }

  /** Returns the array of the tokens; it may be longer than the tokens. Do not change it. */
  public int[] ids() {
    return ids;
  }

  public int id(int position) {
    return ids[position];
  }

  public int length() {
    return length;
  }

  public int promptLength() {
    return promptLength;
  }

  /** Returns how many tokens at the beginning may be shared with other namespaces. */
  public int publicTokens() {
    return publicTokens;
  }

  /** Returns the most tokens that prompt and reply may have. */
  public int maxLength() {
    return maxLength;
  }

  public int replyLength() {
    return length - promptLength;
  }

  /** Returns a copy of the reply's tokens. */
  public int[] reply() {
    return Arrays.copyOfRange(ids, promptLength, length);
  }

  public int[] prompt() {
    return Arrays.copyOf(ids, promptLength);
  }
}
