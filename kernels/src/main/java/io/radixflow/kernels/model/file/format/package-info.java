/**
 * What GGUF and safetensors files have, whatever the architecture: metadata, and each tensor's
 * name, type, shape and place.
 */
package io.radixflow.kernels.model.file.format;
