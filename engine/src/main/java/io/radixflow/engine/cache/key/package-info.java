/**
 * The keys by which cached pages are found and the names that they have: token ids within a
 * namespace, and digests of pages.
 */
package io.radixflow.engine.cache.key;
