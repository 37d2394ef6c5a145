package io.radixflow.text.tokenizer;

import io.radixflow.models.ModelFormatException;
import io.radixflow.text.pretokenizer.GraphemeClusters;
import io.radixflow.text.pretokenizer.Metaspace;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The normalizer that SentencePiece compiles into a model: a map from texts to replacements.
 *
 * <p>Format: the length of the trie in bytes (u32), the trie, and the replacements, each ended by a
 * zero byte. The trie is a double array over UTF-8 bytes in the layout of Darts-clone. A node is
 * one unit (u32). Its label is in bits 0 to 7 and 31. The base of its children is the node's
 * position XOR the bits from 10 on, which are shifted left by 8 if bit 9 is set. A child is at the
 * base XOR its byte. If bit 8 is set, the unit at the base is a leaf, whose bits 0 to 30 are the
 * offset of a replacement. The data is untrusted: an offset outside the data does not match.
 */
final class PrecompiledCharsmap {

  private static final int LEAF = 1 << 8;
  private static final int LABEL = 0x8000_00FF;

  /** A cluster with at least this many bytes is replaced character by character. */
  private static final int LONG_CLUSTER = 6;

  private final int[] units;
  private final byte[] replacements;

  /**
   * @throws ModelFormatException if the trie is empty or larger than the data
   */
  PrecompiledCharsmap(byte[] map) {
    ByteBuffer in = ByteBuffer.wrap(map).order(ByteOrder.LITTLE_ENDIAN);
    int bytes = map.length < Integer.BYTES ? 0 : in.getInt();
    if (bytes <= 0 || bytes % Integer.BYTES != 0 || bytes > in.remaining()) {
      throw new ModelFormatException(
          "precompiled_charsmap of " + map.length + " bytes is damaged: its trie does not fit");
    }
    units = new int[bytes / Integer.BYTES];
    in.asIntBuffer().get(units);
    replacements = new byte[in.remaining() - bytes];
    in.position(in.position() + bytes).get(replacements);
  }

  /** A match: its length in bytes, and its replacement. */
  private record Match(int bytes, String replacement) {}

  /** Returns the shortest or longest match that begins at a byte; null if there is none. */
  private Match match(byte[] text, int from, int to, boolean longest) {
    int at = children(units[0]);
    Match found = null;
    for (int i = from; i < to && text[i] != 0; i++) {
      at ^= text[i] & 0xFF;
      if (at < 0 || at >= units.length || (units[at] & LABEL) != (text[i] & 0xFF)) {
        return found;
      }
      int unit = units[at];
      at ^= children(unit);
      if ((unit & LEAF) != 0) {
        String replacement = at < 0 || at >= units.length ? null : replacement(units[at]);
        if (replacement != null) {
          found = new Match(i + 1 - from, replacement);
        }
        if (found != null && !longest) {
          return found;
        }
      }
    }
    return found;
  }

  private static int children(int unit) {
    return unit >>> 10 << ((unit & 1 << 9) >>> 6);
  }

  private String replacement(int leaf) {
    int begin = leaf & Integer.MAX_VALUE;
    int end = begin;
    while (end < replacements.length && replacements[end] != 0) {
      end++;
    }
    return begin > replacements.length
        ? null
        : new String(replacements, begin, end - begin, StandardCharsets.UTF_8);
  }

  /**
   * Normalises in the same way as Hugging Face's library. A cluster of up to 5 bytes becomes the
   * replacement of its shortest match. A longer cluster, or one without a match, is normalised
   * character by character.
   */
  String byCluster(String text) {
    StringBuilder out = new StringBuilder(text.length());
    for (int at = 0; at < text.length(); ) {
      int end = GraphemeClusters.end(text, at);
      String cluster = text.substring(at, end);
      byte[] bytes = cluster.getBytes(StandardCharsets.UTF_8);
      Match whole = bytes.length < LONG_CLUSTER ? match(bytes, 0, bytes.length, false) : null;
      if (whole != null) {
        out.append(whole.replacement);
      } else {
        cluster.codePoints().forEach(c -> appendCharacter(c, out));
      }
      at = end;
    }
    return out.toString();
  }

  private void appendCharacter(int codePoint, StringBuilder out) {
    byte[] bytes = Character.toString(codePoint).getBytes(StandardCharsets.UTF_8);
    Match match = match(bytes, 0, bytes.length, false);
    if (match == null) {
      out.appendCodePoint(codePoint);
    } else {
      out.append(match.replacement);
    }
  }

  /** Normalises in the same way as SentencePiece: from left to right, with the longest match. */
  String byLongest(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    StringBuilder out = new StringBuilder(text.length());
    for (int at = 0; at < bytes.length; ) {
      Match match = match(bytes, at, bytes.length, true);
      if (match != null) {
        out.append(match.replacement);
        at += match.bytes;
        continue;
      }
      int end = at + 1;
      while (end < bytes.length && (bytes[end] & 0xC0) == 0x80) {
        end++;
      }
      out.append(new String(bytes, at, end - at, StandardCharsets.UTF_8));
      at = end;
    }
    return out.toString();
  }

  /**
   * Writes spaces in the same way as SentencePiece: each becomes U+2581. With {@code removesExtra},
   * a run of spaces becomes one space, and spaces at the ends are removed. With {@code prefixes}, a
   * space is added at the start.
   */
  static TextNormalizer spaces(boolean removesExtra, boolean prefixes) {
    return text -> {
      String kept = removesExtra ? text.replaceAll("^ +", "").replaceAll(" {2,}", " ") : text;
      String prefix = prefixes && !kept.isEmpty() ? " " : "";
      String spaced = (prefix + kept).replace(' ', Metaspace.SPACE);
      return removesExtra ? spaced.replaceAll(Metaspace.SPACE + "+\\z", "") : spaced;
    };
  }
}
