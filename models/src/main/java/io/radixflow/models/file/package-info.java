/**
 * Reads model files: GGUF, and Hugging Face directories of safetensors. Files are untrusted: sizes
 * are checked before memory is allocated.
 */
package io.radixflow.models.file;
