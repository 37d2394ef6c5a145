/**
 * The CPU backend: {@code CpuForward} runs the forward pass over the threads of a {@code
 * WorkerTeam}. Below it, {@code weights} holds weight matrices as the inner loops read them, and
 * {@code kernel} has these loops.
 */
package io.radixflow.kernels.cpu;
