/**
 * The keys by which cached pages are found and the names that they have: token ids within a
 * namespace, digests of pages, and the secret from which namespaces are derived.
 */
package io.radixflow.operators.cache.key;
