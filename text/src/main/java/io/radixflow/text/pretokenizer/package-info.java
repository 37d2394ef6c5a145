/** Pre-tokenizers: they cut text into the pieces within which BPE merges. */
package io.radixflow.text.pretokenizer;
