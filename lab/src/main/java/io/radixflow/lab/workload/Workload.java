package io.radixflow.lab.workload;

import io.radixflow.lab.simulate.CacheWorkload;
import java.util.List;

/**
 * A workload as it was read.
 *
 * @param format the name of its format
 * @param pageTokens tokens that each block of {@code requests} stands for
 * @param requests the requests to the cache
 * @param notes notes for a reader of the results: omissions and assumptions
 */
public record Workload(String format, int pageTokens, CacheWorkload requests, List<String> notes) {}
