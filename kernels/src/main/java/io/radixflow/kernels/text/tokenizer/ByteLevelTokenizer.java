package io.radixflow.kernels.text.tokenizer;

import io.radixflow.kernels.text.pretokenizer.PreTokenizer;
import java.nio.CharBuffer;
import java.text.Normalizer;

/**
 * Byte-level BPE: a text is cut by a {@link PreTokenizer}, and the UTF-8 bytes of each piece are
 * merged. A byte that the vocabulary has no token for yields none, and its neighbours may merge.
 */
final class ByteLevelTokenizer extends VocabularyTokenizer {

  private final PreTokenizer preTokenizer;
  private final boolean nfc;
  private final MergeTable merges;
  private final int[] byteIds;
  private final WholeWords wholeWords;
  private final WordCache cache = new WordCache();

  /**
   * @param nfc whether text is composed (Unicode normalization form C) first
   * @param byteIds the id of each byte's token, or -1
   * @param wholeWords pieces that are tokens as they stand, looked up before any merge; null if the
   *     model merges always
   */
  ByteLevelTokenizer(
      Vocabulary vocabulary,
      String fingerprint,
      PreTokenizer preTokenizer,
      boolean nfc,
      MergeTable merges,
      int[] byteIds,
      WholeWords wholeWords) {
    super(vocabulary, fingerprint);
    this.preTokenizer = preTokenizer;
    this.nfc = nfc;
    this.merges = merges;
    this.byteIds = byteIds;
    this.wholeWords = wholeWords;
  }

  @Override
  void encodeRun(char[] text, int from, int to, boolean first, IntList ids) {
    if (nfc) {
      char[] composed =
          Normalizer.normalize(CharBuffer.wrap(text, from, to - from), Normalizer.Form.NFC)
              .toCharArray();
      encodeNormalized(composed, 0, composed.length, ids);
    } else {
      encodeNormalized(text, from, to, ids);
    }
  }

  private void encodeNormalized(char[] text, int from, int to, IntList ids) {
    BpeMerger merger = new BpeMerger(merges);
    preTokenizer.split(text, from, to, (chars, start, end) -> word(chars, start, end, merger, ids));
  }

  private void word(char[] text, int from, int to, BpeMerger merger, IntList ids) {
    int[] known = cache.find(text, from, to);
    if (known != null) {
      ids.addAll(known, 0, known.length);
      return;
    }
    merger.clear();
    int whole = wholeWords == null ? -1 : wholeWords.find(text, from, to);
    if (whole >= 0) {
      merger.add(whole);
    } else {
      addBytes(text, from, to, merger);
      merger.merge();
    }
    ids.addAll(merger.ids(), 0, merger.size());
    cache.put(text, from, to, merger.ids(), merger.size());
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
