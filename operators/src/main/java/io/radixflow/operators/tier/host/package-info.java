/**
 * Host memory: its pages ({@link io.radixflow.operators.tier.host.HostTier}), the copies from the
 * device to it ({@link io.radixflow.operators.tier.host.Backup}), their checksums, and the link to
 * the store below ({@link io.radixflow.operators.tier.host.StoreLink}).
 *
 * <p>Everything belongs to the engine thread but the work handed to {@link
 * io.radixflow.operators.tier.host.TierWorker}.
 */
package io.radixflow.operators.tier.host;
