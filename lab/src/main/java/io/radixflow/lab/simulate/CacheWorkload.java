package io.radixflow.lab.simulate;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Recorded requests in the order of their arrival, each a path of blocks from the root of a prefix
 * tree. The number of a block stands for its whole prefix: 0 is the first prefix seen, and so on.
 * So equal numbers mean equal prefixes, and each block has one parent. Immutable; thread-safe.
 */
public final class CacheWorkload {
  /** The session of requests without a known session. */
  public static final int NO_SESSION = -1;

  /** The most blocks of all requests of a workload together. */
  public static final int MAX_BLOCKS = 1 << 28;

  private final int[] blocks;
  private final int[] starts;
  private final int[] inputs;
  private final int[] sessions;
  private final int[] branches;
  private final int[] closedSessions;
  private final int[] closedBefore;
  private final int distinct;
  private final long inputBlocks;

  private CacheWorkload(Builder builder) {
    this.blocks = builder.blocks.build().toArray();
    this.starts = builder.starts.build().toArray();
    this.inputs = builder.inputs.build().toArray();
    this.sessions = builder.sessions.build().toArray();
    this.branches = builder.branches.build().toArray();
    this.closedSessions = builder.closedSessions.build().toArray();
    this.closedBefore = builder.closedBefore.build().toArray();
    this.distinct = builder.numbers.size();
    this.inputBlocks = Arrays.stream(inputs).asLongStream().sum();
  }

  public int requests() {
    return inputs.length;
  }

  public int distinctBlocks() {
    return distinct;
  }

  /** Returns the number of blocks of all prompts; hit rates are shares of it. */
  public long inputBlocks() {
    return inputBlocks;
  }

  public int inputs(int request) {
    return inputs[request];
  }

  /** Returns the number of blocks of a request's prompt and reply. */
  public int size(int request) {
    return starts[request + 1] - starts[request];
  }

  public int longest() {
    int longest = 0;
    for (int i = 0; i < requests(); i++) {
      longest = Math.max(longest, size(i));
    }
    return longest;
  }

  int block(int request, int index) {
    return blocks[starts[request] + index];
  }

  void copyBlocks(int request, int[] target) {
    System.arraycopy(blocks, starts[request], target, 0, size(request));
  }

  /** Returns the number of a request's session, or {@link #NO_SESSION}. */
  int session(int request) {
    return sessions[request];
  }

  /** Returns the number of the request's branch within its session. */
  int branch(int request) {
    return branches[request];
  }

  int closings() {
    return closedSessions.length;
  }

  /** Returns the session that a closing ends; closings are ordered by time. */
  int closedSession(int closing) {
    return closedSessions[closing];
  }

  /** Returns the first request after a closing. */
  int closedBefore(int closing) {
    return closedBefore[closing];
  }

  /**
   * Collects requests. For each request call {@link #begin}, then {@link #block} for every block,
   * with {@link #endInput} before the first block of the reply, if there is a reply.
   */
  public static final class Builder {
    private final BlockNumbers numbers = new BlockNumbers();
    private final IntStream.Builder blocks = IntStream.builder();
    private final IntStream.Builder starts = IntStream.builder();
    private final IntStream.Builder inputs = IntStream.builder();
    private final IntStream.Builder sessions = IntStream.builder();
    private final IntStream.Builder branches = IntStream.builder();
    private final IntStream.Builder closedSessions = IntStream.builder();
    private final IntStream.Builder closedBefore = IntStream.builder();
    private int size;
    private int requests;
    private int parent;
    private int start;

    /** The blocks of the request's prompt, or -1 while its prompt has not ended. */
    private int input;

    /**
     * Begins a request without a session.
     *
     * @param scope requests of different scopes share no block; at least 0
     */
    public Builder begin(int scope) {
      return begin(scope, NO_SESSION, 0);
    }

    /**
     * Begins a request.
     *
     * @param scope requests of different scopes share no block; at least 0
     * @param session number of its session
     * @param branch number of its branch within the session
     */
    public Builder begin(int scope, int session, int branch) {
      endRequest();
      starts.add(size);
      sessions.add(session);
      branches.add(branch);
      start = size;
      parent = ~scope;
      input = -1;
      requests++;
      return this;
    }

    private void endRequest() {
      if (requests > 0) {
        inputs.add(input < 0 ? size - start : input);
      }
    }

    /**
     * Adds the next block of the request.
     *
     * @param content an id or a hash that distinguishes the block from other blocks after the same
     *     prefix
     * @throws IllegalArgumentException if there are more than {@link #MAX_BLOCKS}
     */
    public Builder block(long content) {
      if (size == MAX_BLOCKS) {
        throw new IllegalArgumentException(
            "the requests have more than " + MAX_BLOCKS + " blocks; take a part of them");
      }
      parent = numbers.of(parent, content);
      blocks.add(parent);
      size++;
      return this;
    }

    /** Marks all further blocks as the reply's: they are stored but not looked up. */
    public Builder endInput() {
      input = input < 0 ? size - start : input;
      return this;
    }

    /** Notes that a session was closed after the requests so far. */
    public Builder close(int session) {
      closedSessions.add(session);
      closedBefore.add(requests);
      return this;
    }

    /** Returns the workload; called once. */
    public CacheWorkload build() {
      endRequest();
      starts.add(size);
      return new CacheWorkload(this);
    }
  }
}
