package io.radixflow.lab.workload;

import io.radixflow.lab.simulate.CacheWorkload;
import java.util.List;

/**
 * A workload as it was read.
 *
 * @param format the name of its format
 * @param pageTokens tokens a block of {@code requests} stands for
 * @param requests the requests to the cache
 * @param notes what a reader of the results must know: what was left out or assumed
 */
public record Workload(String format, int pageTokens, CacheWorkload requests, List<String> notes) {}
