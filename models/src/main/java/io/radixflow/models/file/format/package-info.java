/**
 * Readers of GGUF and safetensors files of any architecture: metadata, and the name, type, shape
 * and position of each tensor.
 */
package io.radixflow.models.file.format;
