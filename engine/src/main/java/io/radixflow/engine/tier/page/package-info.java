/**
 * The names of pages below the device. A name is a digest of a page's tokens and all tokens before
 * it.
 *
 * <p>Objects of this package do not contain the bytes of pages. {@link
 * io.radixflow.engine.tier.page.PageChain} names the pages of a text, {@link
 * io.radixflow.engine.tier.page.TierPage} describes one page.
 */
package io.radixflow.engine.tier.page;
