/**
 * Readers of GGUF and safetensors files, for any architecture: metadata, and each tensor's name,
 * type, shape and place.
 */
package io.radixflow.models.file.format;
