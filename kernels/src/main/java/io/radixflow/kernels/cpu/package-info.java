/**
 * The CPU backend: its weights, which are repacked when they are loaded, and the thread that runs
 * steps. Of the packages below, {@code step} has the operations of a step, {@code weights} the
 * matrices in the layout of the inner loops, and {@code kernel} these loops.
 */
package io.radixflow.kernels.cpu;
