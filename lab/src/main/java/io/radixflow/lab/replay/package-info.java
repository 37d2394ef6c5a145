/** Replays recorded cache operations and compares the cache's results with the recorded results. */
package io.radixflow.lab.replay;
