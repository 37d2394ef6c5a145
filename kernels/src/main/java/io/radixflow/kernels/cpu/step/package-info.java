/**
 * One step on a CPU. {@code StepRunner} runs the forward pass, whose operations are in {@code
 * CpuForward}. A {@code WorkerTeam} runs long operations in parallel, as regions: products ({@code
 * MatmulRegion}, {@code GroupedMatmul}), attention, experts and outputs.
 */
package io.radixflow.kernels.cpu.step;
