/** Tensors over open files, and what reads their element types as floats. */
package io.radixflow.models.tensor;
