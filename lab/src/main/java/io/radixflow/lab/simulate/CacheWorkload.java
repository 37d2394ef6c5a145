package io.radixflow.lab.simulate;

import java.util.Arrays;

/**
 * Recorded requests in the order of their arrival, each a path of blocks from the root of a prefix
 * tree. A block has the number that its whole prefix got: 0 for the first one seen, and so on; so
 * equal numbers mean equal prefixes, and each block has one parent. Immutable; safe for many
 * threads.
 */
public final class CacheWorkload {
  /** The session of requests that belong to none that is known. */
  public static final int NO_SESSION = -1;

  /** Blocks of all requests together that a workload may have. */
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
    int requests = builder.requests;
    this.blocks = Arrays.copyOf(builder.blocks, builder.size);
    this.starts = Arrays.copyOf(builder.starts, requests + 1);
    this.starts[requests] = builder.size;
    this.inputs = Arrays.copyOf(builder.inputs, requests);
    this.sessions = Arrays.copyOf(builder.sessions, requests);
    this.branches = Arrays.copyOf(builder.branches, requests);
    this.closedSessions = Arrays.copyOf(builder.closedSessions, builder.closings);
    this.closedBefore = Arrays.copyOf(builder.closedBefore, builder.closings);
    this.distinct = builder.numbers.size();
    this.inputBlocks = Arrays.stream(inputs).asLongStream().sum();
  }

  public int requests() {
    return inputs.length;
  }

  public int distinctBlocks() {
    return distinct;
  }

  /** Blocks of all prompts together: what a hit rate is a share of. */
  public long inputBlocks() {
    return inputBlocks;
  }

  public int inputs(int request) {
    return inputs[request];
  }

  /** Blocks of a request's prompt and reply. */
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

  /** The number of a request's session, or {@link #NO_SESSION}. */
  int session(int request) {
    return sessions[request];
  }

  /** The number of the request's branch within its session. */
  int branch(int request) {
    return branches[request];
  }

  int closings() {
    return closedSessions.length;
  }

  /** The session that a closing ends; closings are ordered by time. */
  int closedSession(int closing) {
    return closedSessions[closing];
  }

  /** The first request after a closing. */
  int closedBefore(int closing) {
    return closedBefore[closing];
  }

  /**
   * Collects requests: for each {@link #begin}, {@link #block} for every block, {@link #endInput}
   * where the reply's blocks begin, if there are any.
   */
  public static final class Builder {
    private final BlockNumbers numbers = new BlockNumbers();
    private int[] blocks = new int[1024];
    private int[] starts = new int[257];
    private int[] inputs = new int[256];
    private int[] sessions = new int[256];
    private int[] branches = new int[256];
    private int[] closedSessions = new int[16];
    private int[] closedBefore = new int[16];
    private int size;
    private int requests;
    private int closings;
    private int parent;
    private boolean inputEnded;

    /**
     * Begins a request that belongs to no session.
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
      if (requests == inputs.length) {
        starts = Arrays.copyOf(starts, 2 * requests + 1);
        inputs = Arrays.copyOf(inputs, 2 * requests);
        sessions = Arrays.copyOf(sessions, 2 * requests);
        branches = Arrays.copyOf(branches, 2 * requests);
      }
      starts[requests] = size;
      sessions[requests] = session;
      branches[requests] = branch;
      parent = ~scope;
      inputEnded = false;
      requests++;
      return this;
    }

    /**
     * Adds the next block of the request.
     *
     * @param content distinguishes it from other blocks after the same prefix: an id or a hash
     * @throws IllegalArgumentException if there are more than {@link #MAX_BLOCKS}
     */
    public Builder block(long content) {
      if (size == blocks.length) {
        if (size == MAX_BLOCKS) {
          throw new IllegalArgumentException(
              "the requests have more than " + MAX_BLOCKS + " blocks; take a part of them");
        }
        blocks = Arrays.copyOf(blocks, 2 * size);
      }
      parent = numbers.of(parent, content);
      blocks[size++] = parent;
      if (!inputEnded) {
        inputs[requests - 1]++;
      }
      return this;
    }

    /**
     * Says that the blocks to come are the reply's: they are stored, and no lookup asks for them.
     */
    public Builder endInput() {
      inputEnded = true;
      return this;
    }

    /** Notes that a session was closed after the requests so far. */
    public Builder close(int session) {
      if (closings == closedSessions.length) {
        closedSessions = Arrays.copyOf(closedSessions, 2 * closings);
        closedBefore = Arrays.copyOf(closedBefore, 2 * closings);
      }
      closedSessions[closings] = session;
      closedBefore[closings++] = requests;
      return this;
    }

    public CacheWorkload build() {
      return new CacheWorkload(this);
    }
  }
}
