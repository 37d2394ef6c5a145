/** Loads weights onto a GPU: converts them to bf16 and orders rows as the kernels want them. */
package io.radixflow.kernels.cuda.weights;
