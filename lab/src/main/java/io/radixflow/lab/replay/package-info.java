/** Replays recorded cache operations and compares what the cache does with what was recorded. */
package io.radixflow.lab.replay;
