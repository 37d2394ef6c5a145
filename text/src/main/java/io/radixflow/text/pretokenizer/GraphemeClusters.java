package io.radixflow.text.pretokenizer;

import io.radixflow.text.regex.UnicodeClasses;
import java.util.BitSet;

/**
 * Extended grapheme clusters of Unicode 16.0 (UAX 29), that is, the characters that users perceive,
 * without the rules that join emoji, flags and Indic conjuncts.
 */
public final class GraphemeClusters {

  private static final int OTHER = 0;
  private static final int CONTROL = 1;
  private static final int EXTEND = 2;
  private static final int SPACING = 3;
  private static final int PREPEND = 4;
  private static final int LEADING = 5;
  private static final int VOWEL = 6;
  private static final int TRAILING = 7;
  private static final int LEADING_VOWEL = 8;
  private static final int SYLLABLE = 9;

  /** Code points that extend a cluster although they are not nonspacing or enclosing marks. */
  private static final BitSet EXTENDS =
      set(
          "9BE 9D7 B3E B57 BBE BD7 CC0 CC2 CC7-CC8 CCA-CCB CD5-CD6 D3E D57 DCF DDF 1715 1734 1B35"
              + " 1B3B 1B3D 1B43-1B44 1BAA 1BF2-1BF3 200C-200D 302E-302F A953 A9C0 FF9E-FF9F 111C0"
              + " 11235 1133E 1134D 11357 113B8 113C2 113C5 113C7-113C9 113CF 114B0 114BD 115AF"
              + " 116B6 11930 1193D 11F41 16FF0-16FF1 1D165-1D166 1D16D-1D172 1F3FB-1F3FF"
              + " E0020-E007F");

  /** Spacing marks that stand alone. */
  private static final BitSet ALONE =
      set(
          "102B-102C 1038 1062-1064 1067-106D 1083 1087-108C 108F 109A-109C 1A61 1A63-1A64 AA7B"
              + " AA7D 11720-11721");

  private static final BitSet PREPENDS =
      set(
          "600-605 6DD 70F 890-891 8E2 D4E 110BD 110CD 111C2-111C3 113D1 1193F 11941 11A84-11A89"
              + " 11D46 11F02");

  private static final BitSet CONTROLS = set("2065 FFF0-FFF8 E0000 E0002-E001F E0080-E00FF");

  private GraphemeClusters() {}

  private static BitSet set(String ranges) {
    BitSet set = new BitSet();
    for (String range : ranges.split(" ")) {
      String[] ends = range.split("-");
      int last = Integer.parseInt(ends[ends.length - 1], 16);
      set.set(Integer.parseInt(ends[0], 16), last + 1);
    }
    return set;
  }

  /** The end of the cluster that begins at {@code from}, which is below the text's length. */
  public static int end(String text, int from) {
    int at = from;
    int first = text.codePointAt(at);
    at += Character.charCount(first);
    if (first == '\r' && at < text.length() && text.charAt(at) == '\n') {
      return at + 1;
    }
    int before = kind(first);
    while (at < text.length()) {
      int next = text.codePointAt(at);
      int kind = kind(next);
      if (!joins(before, kind)) {
        return at;
      }
      at += Character.charCount(next);
      before = kind;
    }
    return at;
  }

  private static boolean joins(int before, int after) {
    if (before == CONTROL || after == CONTROL) {
      return false;
    }
    if (after == EXTEND || after == SPACING || before == PREPEND) {
      return true;
    }
    return switch (before) {
      case LEADING ->
          after == LEADING || after == VOWEL || after == LEADING_VOWEL || after == SYLLABLE;
      case VOWEL, LEADING_VOWEL -> after == VOWEL || after == TRAILING;
      case TRAILING, SYLLABLE -> after == TRAILING;
      default -> false;
    };
  }

  private static int kind(int c) {
    if (c >= ' ' && c < 0x7F) {
      return OTHER;
    }
    if (c >= 0x1100 && c <= 0xD7FB) {
      int hangul = hangul(c);
      if (hangul != OTHER) {
        return hangul;
      }
    }
    if (EXTENDS.get(c)) {
      return EXTEND;
    }
    if (PREPENDS.get(c)) {
      return PREPEND;
    }
    return switch (UnicodeClasses.CATEGORIES.get(UnicodeClasses.category(c))) {
      case "Mn", "Me" -> EXTEND;
      case "Mc" -> ALONE.get(c) ? OTHER : SPACING;
      case "Cc", "Cf", "Zl", "Zp" -> CONTROL;
      default -> CONTROLS.get(c) ? CONTROL : c == 0xE33 || c == 0xEB3 ? SPACING : OTHER;
    };
  }

  private static int hangul(int c) {
    if (c <= 0x115F || c >= 0xA960 && c <= 0xA97C) {
      return LEADING;
    }
    if (c <= 0x11A7 || c >= 0xD7B0 && c <= 0xD7C6) {
      return VOWEL;
    }
    if (c <= 0x11FF || c >= 0xD7CB) {
      return TRAILING;
    }
    boolean syllable = c >= 0xAC00 && c <= 0xD7A3;
    return !syllable ? OTHER : (c - 0xAC00) % 28 == 0 ? LEADING_VOWEL : SYLLABLE;
  }
}
