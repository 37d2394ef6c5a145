package io.radixflow.lab.workload;

import io.radixflow.lab.simulate.CacheWorkload;
import java.util.List;

/**
 * A workload as it was read.
 *
 * @param format what it was recognised as, for people
 * @param pageTokens tokens a block of {@code requests} stands for
 * @param requests what is asked of the cache
 * @param notes what a reader of the results must know: what was left out or assumed
 */
public record Workload(String format, int pageTokens, CacheWorkload requests, List<String> notes) {}
