/**
 * Keys and names of cached pages. A key consists of token ids within a namespace; a name is the
 * digest of a page.
 */
package io.radixflow.engine.cache.key;
