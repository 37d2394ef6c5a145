package io.radixflow.text.tokenizer;

import io.radixflow.text.pretokenizer.Metaspace;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * BPE over characters, like SentencePiece for Llama 2, Mistral and Gemma. A character without a
 * token becomes the tokens of its UTF-8 bytes.
 *
 * <p>If no token has U+2581 after another character, merges cannot cross the beginning of a run of
 * U+2581. Then words are merged separately and cached.
 */
final class CharacterEncoder implements PieceEncoder {

  /**
   * The tokens of single characters.
   *
   * @param ids code point to id
   * @param byteIds the id of each byte's token, or -1
   * @param unknownId the token for characters that have none, or -1 to drop them
   * @param fusesUnknown whether consecutive unknown characters become one token
   */
  record Characters(
      Map<Integer, Integer> ids, int[] byteIds, int unknownId, boolean fusesUnknown) {}

  private final Characters characters;
  private final MergeTable merges;
  private final Map<String, Integer> wholePieces;
  private final boolean wordsApart;
  private final WordCache cache = new WordCache();

  /**
   * @param wholePieces ids of tokens by their text; a piece that is one of these is not merged.
   *     Empty if the model always merges
   * @param wordsApart whether no token has U+2581 after another character
   */
  CharacterEncoder(
      Characters characters,
      MergeTable merges,
      Map<String, Integer> wholePieces,
      boolean wordsApart) {
    this.characters = characters;
    this.merges = merges;
    this.wholePieces = wholePieces;
    this.wordsApart = wordsApart && wholePieces.isEmpty();
  }

  @Override
  public void encode(char[] text, int from, int to, IntList ids) {
    BpeMerger merger = new BpeMerger(merges);
    int start = from;
    for (int i = from + 1; wordsApart && i < to; i++) {
      if (text[i] == Metaspace.SPACE && text[i - 1] != Metaspace.SPACE) {
        word(text, start, i, merger, ids);
        start = i;
      }
    }
    word(text, start, to, merger, ids);
  }

  private void word(char[] text, int from, int to, BpeMerger merger, IntList ids) {
    int[] known = cache.find(text, from, to);
    if (known != null) {
      ids.addAll(known, 0, known.length);
      return;
    }
    merger.clear();
    Integer whole =
        wholePieces.isEmpty() ? null : wholePieces.get(new String(text, from, to - from));
    if (whole != null) {
      merger.add(whole);
    } else {
      addCharacters(text, from, to, merger);
      merger.merge();
    }
    ids.addAll(merger.ids(), 0, merger.size());
    cache.put(text, from, to, merger.ids(), merger.size());
  }

  /**
   * Adds the tokens of all characters. If unknown characters are fused, their token is added before
   * the next known character.
   */
  private void addCharacters(char[] text, int from, int to, BpeMerger merger) {
    boolean unknown = false;
    int at = from;
    while (at < to) {
      int codePoint = Character.codePointAt(text, at, to);
      at += Character.charCount(codePoint);
      Integer id = characters.ids.get(codePoint);
      if (id != null) {
        addUnknown(unknown, merger);
        unknown = false;
        merger.add(id);
      } else if (!addBytes(codePoint, merger)) {
        addUnknown(unknown && !characters.fusesUnknown, merger);
        unknown = true;
      }
    }
    addUnknown(unknown, merger);
  }

  private void addUnknown(boolean waits, BpeMerger merger) {
    if (waits && characters.unknownId >= 0) {
      merger.add(characters.unknownId);
    }
  }

  /** Adds the tokens of a character's bytes, if all of these tokens exist. */
  private boolean addBytes(int codePoint, BpeMerger merger) {
    byte[] bytes = Character.toString(codePoint).getBytes(StandardCharsets.UTF_8);
    for (byte b : bytes) {
      if (characters.byteIds[b & 0xFF] < 0) {
        return false;
      }
    }
    for (byte b : bytes) {
      merger.add(characters.byteIds[b & 0xFF]);
    }
    return true;
  }
}
