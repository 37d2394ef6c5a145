/**
 * The names of pages below the device: what a page holds and all that precedes it, as a digest.
 *
 * <p>Nothing here holds bytes. {@link io.radixflow.operators.tier.page.PageChain} names the pages
 * of a text, {@link io.radixflow.operators.tier.page.TierPage} describes one of them.
 */
package io.radixflow.operators.tier.page;
