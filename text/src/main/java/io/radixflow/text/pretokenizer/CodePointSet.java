package io.radixflow.text.pretokenizer;

import io.radixflow.text.regex.CodePoints;

/** A set of code points with a bitmap of those below U+3000. */
final class CodePointSet {
  private static final int MAPPED = 0x3000;

  private final long[] bits = new long[MAPPED / Long.SIZE];
  private final CodePoints all;

  CodePointSet(CodePoints all) {
    this.all = all;
    for (int word = 0; word < bits.length; word++) {
      int first = word * Long.SIZE;
      int last = first + Long.SIZE - 1;
      if (all.covers(first, last) == 0) {
        continue;
      }
      for (int c = first; c <= last; c++) {
        bits[word] |= all.contains(c) ? 1L << c : 0;
      }
    }
  }

  boolean contains(int codePoint) {
    return codePoint < MAPPED
        ? (bits[codePoint >> 6] >> codePoint & 1) != 0
        : all.contains(codePoint);
  }
}
