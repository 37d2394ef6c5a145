package io.radixflow.engine;

import io.radixflow.engine.cache.key.PageHasher;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.engine.tier.page.PageId;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Computes names of pages for {@link Engine#erase}; all engines compute the same names. Not
 * thread-safe.
 */
public final class PageNames {
  /** Length of a name. */
  public static final int BYTES = PageHasher.BYTES;

  private final String namespace;
  private final int pageTokens;
  private final Set<PageId> names = new LinkedHashSet<>();

  /**
   * @param pageTokens tokens per page; see {@link EngineInfo#pageTokens}
   */
  public PageNames(String namespace, int pageTokens) {
    this.namespace = namespace;
    this.pageTokens = pageTokens;
  }

  /**
   * Adds the whole pages of a text, except its public pages.
   *
   * @param publicTokens number of tokens at the beginning of the text that are in public pages
   * @param from index of the first page to add
   */
  public void add(int[] ids, int publicTokens, int from) {
    PageChain chain =
        PageChain.of(new RadixKey(namespace, ids, ids.length, publicTokens), pageTokens, 0);
    names.addAll(List.of(chain.from(Math.max(from, chain.sharedPages()))));
  }

  /** Returns the names, concatenated; each name follows the name of its parent. */
  public byte[] toBytes() {
    return PageId.bytes(names);
  }
}
