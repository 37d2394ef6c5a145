package io.radixflow.text.tokenizer;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The tokens of a byte-level model file. Their text is written in the {@link ByteAlphabet}. */
final class ByteLevelVocabulary {

  private final List<String> tokens;
  private final List<AddedToken> added;
  private final Map<String, Integer> ids;

  /**
   * @param tokens text of each id in the alphabet
   * @param added added tokens, whose text is not in the alphabet
   */
  ByteLevelVocabulary(List<String> tokens, List<AddedToken> added) {
    this.tokens = tokens;
    this.added = added;
    ids = new HashMap<>(tokens.size() * 2);
    for (int id = 0; id < tokens.size(); id++) {
      ids.putIfAbsent(tokens.get(id), id);
    }
  }

  /**
   * Returns the encoder of this vocabulary.
   *
   * @param merges pairs of token texts, best first
   * @param wholePieces whether a piece that is a token is not merged
   */
  PieceEncoder encoder(List<String[]> merges, boolean wholePieces) {
    int[] byteIds = new int[256];
    for (int b = 0; b < 256; b++) {
      byteIds[b] = ids.getOrDefault(String.valueOf(ByteAlphabet.charOf(b)), -1);
    }
    return new ByteLevelEncoder(
        MergeTable.of(merges, ids), byteIds, wholePieces ? plainIds() : Map.of());
  }

  /**
   * Returns the ids without added tokens, because text from a user must not become an added token.
   */
  private Map<String, Integer> plainIds() {
    Map<String, Integer> plain = new HashMap<>(ids);
    added.stream().filter(token -> !token.isBlank()).forEach(token -> plain.remove(token.text()));
    return plain;
  }

  Vocabulary vocabulary(int[] endOfTurnIds) {
    return new Vocabulary(bytes(), added, endOfTurnIds);
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
}
