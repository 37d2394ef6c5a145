package io.radixflow.lab.drill.proof;

import io.radixflow.jobs.config.RadixflowOptions;
import java.util.Set;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;

/**
 * The end of a TaskManager by {@code kill -9} while another had a free slot.
 *
 * @param millis the time in milliseconds since the epoch
 * @param subtasks subtasks of the serving operator that it ran
 * @param parallelism parallelism of the serving operator
 */
public record Kill(long millis, Set<Integer> subtasks, int parallelism) {

  /** Returns true if the killed TaskManager served the session. */
  boolean owned(String session) {
    return subtasks.contains(
        KeyGroupRangeAssignment.assignKeyToParallelOperator(
            session, RadixflowOptions.MAX_PARALLELISM.defaultValue(), parallelism));
  }
}
