package io.radixflow.operators.cache;

/**
 * How pages lie over token ids.
 *
 * @param pageTokens units a page, the stride from page to page
 * @param overlap tokens of the next page that a page depends on: 1 if units are pairs, else 0
 */
record PageShape(int pageTokens, int overlap) {

  PageShape {
    if (pageTokens < 1) {
      throw new IllegalArgumentException("a page has " + pageTokens + " tokens; at least 1");
    }
  }

  /** Token ids that {@code pages} neighbouring pages depend on. */
  int tokensOf(int pages) {
    return pages * pageTokens + overlap;
  }
}
