/**
 * The tiers below the device's KV pool. They share one interface: {@link
 * io.radixflow.engine.tier.Tiers}, implemented by {@link io.radixflow.engine.tier.HiRadixCache}.
 *
 * <pre>
 *   device pool --- host.Backup ---&gt; host memory --- host.StoreLink ---&gt; disk --- remote.Uploads ---&gt; remote
 *        ^                            |      ^                           |                            |
 *        +-- loadback.HostToDevice ---+      +---- loadback.StorageReads +----------------------------+
 *                    Copies
 * </pre>
 *
 * <p>The name of a page below the device depends on the page's content and on all that precedes it
 * ({@link io.radixflow.engine.tier.page.PageId}), within one numerics epoch. A page that is
 * missing, damaged or not the one that was asked for is a miss, counted by reason; it is never an
 * error and never a wrong token.
 */
package io.radixflow.engine.tier;
