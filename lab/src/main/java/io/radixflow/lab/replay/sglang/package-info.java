/**
 * SGLang's radix cache (commit 8905cbd): look-ups split nodes, and evictions free whole nodes.
 *
 * <p>It replays SGLang's recordings and is an oracle in tests. The product does not use it, and it
 * shares no code with the product's tree.
 */
package io.radixflow.lab.replay.sglang;
