/**
 * Loads weights onto a GPU: converts them to the formats of the device and reorders rows for the
 * kernels.
 */
package io.radixflow.kernels.cuda.weights;
