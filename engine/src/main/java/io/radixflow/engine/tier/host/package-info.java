/**
 * Host memory: its pages ({@link io.radixflow.engine.tier.host.HostTier}), the copies from the
 * device to it ({@link io.radixflow.engine.tier.host.Backup}), their checksums, and the link to the
 * store below ({@link io.radixflow.engine.tier.host.StoreLink}).
 *
 * <p>Everything belongs to the engine thread, except the work handed to {@link
 * io.radixflow.engine.tier.host.TierWorker}.
 */
package io.radixflow.engine.tier.host;
