/**
 * Sessions in the prefix cache: where their branches end in the tree, the pages that only one
 * session uses, the bounds on these pages, and pins. Owned by the cache's thread.
 */
package io.radixflow.engine.cache.session;
