/**
 * One step on a GPU. {@code StepPlan} writes the metadata of a batch, {@code ProgramRecorder} turns
 * the forward pass into launches, {@code StepLauncher} queues them, and {@code CudaOutputStage}
 * computes logits and samples tokens.
 */
package io.radixflow.kernels.cuda.step;
