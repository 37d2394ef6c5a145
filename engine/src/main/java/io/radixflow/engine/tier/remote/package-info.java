/**
 * The remote tier: a {@link io.radixflow.engine.tier.store.PageStore} in a file system that
 * TaskManagers share, and the uploads from the disk tier to it.
 */
package io.radixflow.engine.tier.remote;
