/**
 * The remote tier: a {@link io.radixflow.operators.tier.store.PageStore} in a file system that
 * TaskManagers share, and the uploads from the disk tier to it.
 */
package io.radixflow.operators.tier.remote;
