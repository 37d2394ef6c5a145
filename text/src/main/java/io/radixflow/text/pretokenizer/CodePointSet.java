package io.radixflow.text.pretokenizer;

import io.radixflow.text.regex.CodePoints;

/** A set of code points with a bitmap of those below U+3000. */
final class CodePointSet {
  private static final int MAPPED = 0x3000;

  private final long[] bits = new long[MAPPED / Long.SIZE];
  private final CodePoints all;

  CodePointSet(CodePoints all) {
    this.all = all;
    for (int c = 0; c < MAPPED; c++) {
      if (all.contains(c)) {
        bits[c >> 6] |= 1L << c;
      }
    }
  }

  boolean contains(int codePoint) {
    return codePoint < MAPPED
        ? (bits[codePoint >> 6] >> codePoint & 1) != 0
        : all.contains(codePoint);
  }
}
