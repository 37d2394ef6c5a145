/**
 * KV pages of the CPU backend and attention over them, in Java and in native code. Both give the
 * same bits.
 */
package io.radixflow.kernels.cpu.attention;
