/**
 * One step on a CPU: {@code StepRunner} runs the forward pass, whose operations are those of {@code
 * CpuForward}. The long ones are regions, which a {@code WorkerTeam} runs together: products
 * ({@code MatmulRegion}, {@code GroupedMatmul}), attention, experts, outputs.
 */
package io.radixflow.kernels.cpu.step;
