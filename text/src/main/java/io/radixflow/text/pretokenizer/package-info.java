/** Pre-tokenizers: they cut text into the pieces that BPE merges within. */
package io.radixflow.text.pretokenizer;
