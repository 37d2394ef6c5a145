/**
 * Sessions in the prefix cache: where their branches end in the tree, the pages that they alone
 * use, the bounds on those, and pins. Owned by the cache's thread.
 */
package io.radixflow.engine.cache.session;
