/** KV pages on a GPU and in pinned host memory, and the copies between them. */
package io.radixflow.kernels.cuda.pages;
