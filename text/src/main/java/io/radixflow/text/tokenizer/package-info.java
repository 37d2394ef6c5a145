/**
 * Tokenizers: byte-level BPE and SentencePiece, read from GGUF metadata or {@code tokenizer.json}.
 */
package io.radixflow.text.tokenizer;
