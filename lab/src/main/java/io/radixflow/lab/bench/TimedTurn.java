package io.radixflow.lab.bench;

import io.radixflow.operators.record.Usage;

/**
 * A turn that was timed.
 *
 * @param seconds to the first token
 * @param reply all token ids of it
 */
record TimedTurn(double seconds, int[] reply, Usage usage) {}
