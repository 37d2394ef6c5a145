package io.radixflow.kernels.text.tokenizer;

import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * BPE over characters as SentencePiece does it for Llama 2 and Mistral: spaces become U+2581, a
 * character without a token becomes the tokens of its UTF-8 bytes.
 *
 * <p>Where no token has U+2581 after another character, merges cannot cross the beginning of a run
 * of spaces, so words are merged apart, and remembered.
 */
final class SentencePieceTokenizer extends VocabularyTokenizer {

  /** The character that stands for a space in tokens. */
  static final char SPACE = '\u2581';

  /** The model file's rules for spaces. */
  record Spaces(SpacePrefix prefix, boolean prefixOnce, boolean splitEach) {}

  /**
   * The tokens of single characters.
   *
   * @param ids code point to id
   * @param byteIds the id of each byte's token, or null if the model has none
   * @param unknownId the token for what has none, or -1 to drop it
   */
  record Characters(Map<Integer, Integer> ids, int[] byteIds, int unknownId) {}

  private final Map<Integer, Integer> characterIds;
  private final int[] byteIds;
  private final int unknownId;
  private final MergeTable merges;
  private final Spaces spaces;
  private final boolean wordsApart;
  private final WordCache cache = new WordCache();

  /**
   * @param wordsApart whether no token has U+2581 after another character
   */
  SentencePieceTokenizer(
      Vocabulary vocabulary,
      String fingerprint,
      Characters characters,
      MergeTable merges,
      Spaces spaces,
      boolean wordsApart) {
    super(vocabulary, fingerprint);
    characterIds = Map.copyOf(characters.ids);
    byteIds = characters.byteIds;
    unknownId = characters.unknownId;
    this.merges = merges;
    this.spaces = spaces;
    this.wordsApart = wordsApart;
  }

  @Override
  public boolean dropsLeadingSpace() {
    return spaces.prefix() != SpacePrefix.NEVER;
  }

  @Override
  void encodeRun(char[] text, int from, int to, boolean first, IntList ids) {
    if (from == to) {
      return;
    }
    char[] run = withSpaces(text, from, to, first);
    BpeMerger merger = new BpeMerger(merges);
    int start = 0;
    for (int i = 1; i < run.length; i++) {
      if (beginsWord(run, i)) {
        word(run, start, i, merger, ids);
        start = i;
      }
    }
    word(run, start, run.length, merger, ids);
  }

  private boolean beginsWord(char[] run, int at) {
    return run[at] == SPACE && (spaces.splitEach() || wordsApart && run[at - 1] != SPACE);
  }

  private char[] withSpaces(char[] text, int from, int to, boolean first) {
    boolean prefix =
        spaces.prefix() == SpacePrefix.EVERY_RUN
            || spaces.prefix() == SpacePrefix.FIRST_RUN && first;
    if (prefix && spaces.prefixOnce() && (text[from] == ' ' || text[from] == SPACE)) {
      prefix = false;
    }
    int shift = prefix ? 1 : 0;
    char[] run = new char[to - from + shift];
    run[0] = SPACE;
    for (int i = from; i < to; i++) {
      run[i - from + shift] = text[i] == ' ' ? SPACE : text[i];
    }
    return run;
  }

  private void word(char[] run, int from, int to, BpeMerger merger, IntList ids) {
    int[] known = cache.find(run, from, to);
    if (known != null) {
      ids.addAll(known, 0, known.length);
      return;
    }
    merger.clear();
    int at = from;
    boolean unknown = false;
    while (at < to) {
      int codePoint = Character.codePointAt(run, at, to);
      at += Character.charCount(codePoint);
      Integer id = characterIds.get(codePoint);
      if (id != null) {
        merger.add(id);
        unknown = false;
      } else if (byteIds != null) {
        addBytes(codePoint, merger);
      } else if (unknownId >= 0 && !unknown) {
        merger.add(unknownId);
        unknown = true;
      }
    }
    merger.merge();
    ids.addAll(merger.ids(), 0, merger.size());
    cache.put(run, from, to, merger.ids(), merger.size());
  }

  private void addBytes(int codePoint, BpeMerger merger) {
    for (byte b : Character.toString(codePoint).getBytes(StandardCharsets.UTF_8)) {
      merger.add(byteIds[b & 0xFF]);
    }
  }
}
