package io.radixflow.kernels.text.tokenizer;

import io.radixflow.kernels.text.pretokenizer.PreTokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Builds a {@link ByteLevelTokenizer} from the spelled tokens and merges of a model file. */
final class ByteLevelBuilder {

  private final List<String> tokens;
  private final List<AddedToken> added;
  private final Map<String, Integer> ids;

  /**
   * @param tokens each id's text in the {@link ByteAlphabet}
   * @param added tokens outside the merges, which have their text as it is
   */
  ByteLevelBuilder(List<String> tokens, List<AddedToken> added) {
    this.tokens = tokens;
    this.added = added;
    ids = new HashMap<>(tokens.size() * 2);
    for (int id = 0; id < tokens.size(); id++) {
      ids.putIfAbsent(tokens.get(id), id);
    }
  }

  /**
   * @param nfc whether text is composed (Unicode normalization form C) first
   * @param merges pairs of token texts, best first
   * @param wholeWords whether a piece that is a token is taken without merging
   */
  ByteLevelTokenizer build(
      PreTokenizer preTokenizer,
      boolean nfc,
      List<String[]> merges,
      boolean wholeWords,
      int[] endOfTurnIds,
      String fingerprint) {
    return new ByteLevelTokenizer(
        new Vocabulary(bytes(), added, endOfTurnIds),
        fingerprint,
        preTokenizer,
        nfc,
        MergeTable.of(merges, ids),
        byteIds(),
        wholeWords ? this::wholeWord : null);
  }

  private int[] byteIds() {
    int[] byteIds = new int[256];
    for (int b = 0; b < 256; b++) {
      byteIds[b] = ids.getOrDefault(String.valueOf(ByteAlphabet.charOf(b)), -1);
    }
    return byteIds;
  }

  private List<byte[]> bytes() {
    List<byte[]> bytes = new ArrayList<>(tokens.size());
    for (String token : tokens) {
      bytes.add(unspell(token));
    }
    for (AddedToken token : added) {
      bytes.set(token.id(), token.text().getBytes(StandardCharsets.UTF_8));
    }
    return bytes;
  }

  private static byte[] unspell(String token) {
    byte[] bytes = new byte[token.length()];
    for (int i = 0; i < bytes.length; i++) {
      int value = ByteAlphabet.byteOf(token.charAt(i));
      if (value < 0) {
        return token.getBytes(StandardCharsets.UTF_8);
      }
      bytes[i] = (byte) value;
    }
    return bytes;
  }

  private int wholeWord(char[] text, int from, int to) {
    byte[] bytes = new String(text, from, to - from).getBytes(StandardCharsets.UTF_8);
    char[] spelled = new char[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      spelled[i] = ByteAlphabet.charOf(bytes[i] & 0xFF);
    }
    return ids.getOrDefault(new String(spelled), -1);
  }
}
