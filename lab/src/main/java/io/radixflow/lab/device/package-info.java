/**
 * Measures devices: the peaks of CPU and GPU, kernels of a GPU, and steps of known models on it.
 */
package io.radixflow.lab.device;
