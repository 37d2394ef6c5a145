/**
 * One step on a CPU: {@code StepRunner} runs the forward pass, whose operations are in {@code
 * CpuForward}. A {@code WorkerTeam} runs the long operations together, as regions: products ({@code
 * MatmulRegion}, {@code GroupedMatmul}), attention, experts, outputs.
 */
package io.radixflow.kernels.cpu.step;
