/**
 * One step on a GPU: {@code StepPlan} lays out a batch, {@code ProgramRecorder} turns the forward
 * pass into launches, {@code StepLauncher} queues them, {@code CudaOutputStage} computes logits and
 * samples tokens.
 */
package io.radixflow.kernels.cuda.step;
