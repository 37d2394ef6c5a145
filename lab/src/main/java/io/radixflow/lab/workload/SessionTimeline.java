package io.radixflow.lab.workload;

import io.radixflow.lab.simulate.CacheWorkload;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Collects the requests of sessions, which are stored one session after the other, and orders them
 * on a common clock. A request's blocks are kept as runs of ids until all requests are known.
 */
final class SessionTimeline {
  static final int MAX_REQUEST_BLOCKS = 1 << 20;
  private static final int MAX_RUNS = 1 << 26;

  /**
   * The place of a request.
   *
   * @param time seconds on the common clock
   * @param scope requests of different scopes share no block
   * @param session number of its session, or {@link CacheWorkload#NO_SESSION}
   * @param branch number of its branch within the session
   */
  record Place(double time, int scope, int session, int branch) {}

  /** A request with the runs from {@code firstRun} to before {@code endRun}. */
  private record Request(Place place, int firstRun, int endRun) {}

  private final int blocksPerPage;
  private final double horizon;
  private final List<Request> requests = new ArrayList<>();
  private long[] firsts = new long[1024];
  private long[] counts = new long[1024];
  private int runs;
  private int firstRun;
  private long blocks;
  private long pages;

  /**
   * @param horizon seconds after which the clock is cut
   */
  SessionTimeline(int blocksPerPage, double horizon) {
    this.blocksPerPage = blocksPerPage;
    this.horizon = horizon;
  }

  /** Begins a request. Add its runs next, then call {@link #end}. */
  void begin() {
    firstRun = runs;
    blocks = 0;
  }

  /** Adds {@code count} blocks with ids from {@code first}. */
  void run(long first, long count) {
    blocks += count;
    if (runs > firstRun && firsts[runs - 1] + counts[runs - 1] == first) {
      counts[runs - 1] += count;
      return;
    }
    if (runs == MAX_RUNS) {
      throw new IllegalArgumentException(
          "there are more than " + MAX_RUNS + " runs of blocks in all; take a part of the trace");
    }
    if (runs == firsts.length) {
      firsts = Arrays.copyOf(firsts, 2 * runs);
      counts = Arrays.copyOf(counts, 2 * runs);
    }
    firsts[runs] = first;
    counts[runs++] = count;
  }

  /**
   * Ends a request. A request after the horizon is left out.
   *
   * @throws IllegalArgumentException if the request, or all requests together, have too many blocks
   */
  void end(Place place) {
    if (place.time >= horizon) {
      runs = firstRun;
      return;
    }
    pages += blocks / blocksPerPage;
    if (blocks > MAX_REQUEST_BLOCKS || pages > CacheWorkload.MAX_BLOCKS) {
      throw new IllegalArgumentException(
          "there are more than %d blocks in a request, or %d pages in all; take a part of the trace"
              .formatted(MAX_REQUEST_BLOCKS, CacheWorkload.MAX_BLOCKS));
    }
    requests.add(new Request(place, firstRun, runs));
  }

  /** Returns the requests ordered by time, then by scope. */
  CacheWorkload build() {
    requests.sort(
        Comparator.comparingDouble((Request request) -> request.place.time)
            .thenComparingInt(request -> request.place.scope));
    CacheWorkload.Builder builder = new CacheWorkload.Builder();
    PageJoiner joiner = new PageJoiner(builder, blocksPerPage);
    for (Request request : requests) {
      builder.begin(request.place.scope, request.place.session, request.place.branch);
      joiner.begin();
      for (int i = request.firstRun; i < request.endRun; i++) {
        joiner.addRange(firsts[i], counts[i]);
      }
    }
    return builder.build();
  }
}
