/**
 * The CPU backend: its weights, repacked at load, and the thread that runs steps. Below it, {@code
 * step} has what a step does, {@code weights} the matrices as the inner loops read them, and {@code
 * kernel} these loops.
 */
package io.radixflow.kernels.cpu;
