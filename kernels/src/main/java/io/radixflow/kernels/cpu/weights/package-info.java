/** Weight matrices that are repacked into panels of rows, one class per encoding. */
package io.radixflow.kernels.cpu.weights;
