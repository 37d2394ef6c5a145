package io.radixflow.lab.bench.speculation;

/**
 * A reply that was generated without speculation and with it.
 *
 * @param kind of its prompt
 * @param tokens after the first
 * @param offSeconds from the first token to the end without speculation
 * @param onSeconds with it
 * @param drafted drafts that were verified
 * @param accepted drafts that were right
 */
record TimedReply(
    String kind, int tokens, double offSeconds, double onSeconds, long drafted, long accepted) {
  double offSpeed() {
    return tokens / offSeconds;
  }

  double onSpeed() {
    return tokens / onSeconds;
  }
}
