package io.radixflow.text.tokenizer;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Byte-level BPE, which merges the UTF-8 bytes of a piece. Bytes without a token in the vocabulary
 * are dropped, and their neighbours may be merged.
 */
final class ByteLevelEncoder implements PieceEncoder {

  private final MergeTable merges;
  private final int[] byteIds;
  private final Map<String, Integer> wholePieces;
  private final WordCache cache = new WordCache();

  /**
   * @param byteIds the id of each byte's token, or -1
   * @param wholePieces ids of tokens by their text in the {@link ByteAlphabet}. A piece that is one
   *     of these is not merged. Empty if the model always merges
   */
  ByteLevelEncoder(MergeTable merges, int[] byteIds, Map<String, Integer> wholePieces) {
    this.merges = merges;
    this.byteIds = byteIds;
    this.wholePieces = wholePieces;
  }

  @Override
  public void encode(char[] text, int from, int to, IntList ids) {
    int[] known = cache.find(text, from, to);
    if (known != null) {
      ids.addAll(known, 0, known.length);
      return;
    }
    BpeMerger merger = new BpeMerger(merges);
    int whole = wholePieces.isEmpty() ? -1 : wholePiece(text, from, to);
    if (whole >= 0) {
      merger.add(whole);
    } else {
      addBytes(text, from, to, merger);
      merger.merge();
    }
    ids.addAll(merger.ids(), 0, merger.size());
    cache.put(text, from, to, merger.ids(), merger.size());
  }

  private int wholePiece(char[] text, int from, int to) {
    byte[] bytes = new String(text, from, to - from).getBytes(StandardCharsets.UTF_8);
    char[] spelled = new char[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      spelled[i] = ByteAlphabet.charOf(bytes[i] & 0xFF);
    }
    return wholePieces.getOrDefault(new String(spelled), -1);
  }

  private void addBytes(char[] text, int from, int to, BpeMerger merger) {
    int at = from;
    while (at < to) {
      int c = Character.codePointAt(text, at, to);
      at += Character.charCount(c);
      if (c < 0x80) {
        addByte(c, merger);
      } else if (c < 0x800) {
        addByte(0xC0 | c >> 6, merger);
        addByte(0x80 | c & 0x3F, merger);
      } else if (c < 0x10000) {
        addByte(0xE0 | c >> 12, merger);
        addByte(0x80 | c >> 6 & 0x3F, merger);
        addByte(0x80 | c & 0x3F, merger);
      } else {
        addByte(0xF0 | c >> 18, merger);
        addByte(0x80 | c >> 12 & 0x3F, merger);
        addByte(0x80 | c >> 6 & 0x3F, merger);
        addByte(0x80 | c & 0x3F, merger);
      }
    }
  }

  private void addByte(int value, BpeMerger merger) {
    int id = byteIds[value];
    if (id >= 0) {
      merger.add(id);
    }
  }
}
