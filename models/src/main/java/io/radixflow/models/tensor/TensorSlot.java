package io.radixflow.models.tensor;

import io.radixflow.models.TensorType;

/**
 * The position of a tensor in a file.
 *
 * @param name canonical name
 * @param type element type
 * @param rows number of rows; 1 for a vector
 * @param columns elements per row, a whole number of blocks
 * @param position first byte in the file
 */
public record TensorSlot(String name, TensorType type, int rows, int columns, long position) {}
