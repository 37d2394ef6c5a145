/** Tensors in open files, and conversions of their element types to floats. */
package io.radixflow.models.tensor;
