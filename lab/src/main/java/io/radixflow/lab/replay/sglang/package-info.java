/**
 * The radix cache as SGLang builds it (commit 8905cbd): split by look-ups, evicted by whole nodes.
 *
 * <p>It serves to replay what SGLang recorded and as an oracle in tests; nothing that serves
 * requests uses it. It shares no code with the tree that does.
 */
package io.radixflow.lab.replay.sglang;
