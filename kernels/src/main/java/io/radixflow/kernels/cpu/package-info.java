/**
 * The CPU backend: its weights, which are repacked when they are loaded, and the thread that runs
 * steps. Package {@code step} contains the operations of a step, {@code weights} the matrices in
 * the layout of the inner loops, and {@code kernel} the inner loops.
 */
package io.radixflow.kernels.cpu;
