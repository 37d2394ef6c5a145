package io.radixflow.text;

/**
 * Decodes UTF-8 bytes as they arrive, and only outputs whole characters.
 *
 * <p>Ill-formed input is handled as the Unicode standard recommends (section 3.9, "substitution of
 * maximal subparts"): the longest beginning of a well-formed sequence, or else one byte, becomes
 * one U+FFFD. Not thread-safe.
 */
final class Utf8Decoder {

  private static final char REPLACEMENT = '\uFFFD';

  private int codePoint;
  private int missing;
  private int least;
  private int greatest;

  /** Decodes {@code bytes[0, count)} as the continuation of earlier calls. */
  void decode(byte[] bytes, int count, StringBuilder out) {
    for (int i = 0; i < count; i++) {
      int b = bytes[i] & 0xFF;
      if (missing > 0) {
        if (b >= least && b <= greatest) {
          proceed(b, out);
          continue;
        }
        flush(out);
      }
      begin(b, out);
    }
  }

  /** Ends the text. An unfinished character becomes U+FFFD. */
  void flush(StringBuilder out) {
    if (missing > 0) {
      missing = 0;
      out.append(REPLACEMENT);
    }
  }

  private void proceed(int b, StringBuilder out) {
    codePoint = codePoint << 6 | b & 0x3F;
    least = 0x80;
    greatest = 0xBF;
    if (--missing == 0) {
      out.appendCodePoint(codePoint);
    }
  }

  private void begin(int b, StringBuilder out) {
    least = 0x80;
    greatest = 0xBF;
    if (b < 0x80) {
      out.append((char) b);
    } else if (b >= 0xC2 && b < 0xE0) {
      expect(b & 0x1F, 1);
    } else if (b >= 0xE0 && b < 0xF0) {
      expect(b & 0xF, 2);
      // Excludes overlong forms and surrogates.
      least = b == 0xE0 ? 0xA0 : 0x80;
      greatest = b == 0xED ? 0x9F : 0xBF;
    } else if (b >= 0xF0 && b < 0xF5) {
      expect(b & 7, 3);
      least = b == 0xF0 ? 0x90 : 0x80;
      greatest = b == 0xF4 ? 0x8F : 0xBF;
    } else {
      out.append(REPLACEMENT);
    }
  }

  private void expect(int bits, int bytes) {
    codePoint = bits;
    missing = bytes;
  }
}
