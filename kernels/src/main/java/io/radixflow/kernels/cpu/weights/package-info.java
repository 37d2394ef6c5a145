/** Weight matrices repacked into panels of rows, one class for each encoding. */
package io.radixflow.kernels.cpu.weights;
