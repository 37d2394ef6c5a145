package io.radixflow.kernels.text.tokenizer;

import io.radixflow.kernels.text.pretokenizer.ClassRuns;
import io.radixflow.kernels.text.pretokenizer.UnicodeClasses;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The common part of all tokenizers here: the vocabulary, and the search for added tokens around
 * runs of plain text.
 */
public abstract class VocabularyTokenizer implements Tokenizer {

  private static final char REPLACEMENT = '\uFFFD';

  /** What the texts of special tokens have that mark calls of tools and reasoning. */
  private static final Pattern MARKUP =
      Pattern.compile(
          "(?i)tool|action|think|channel|message|constrain|python_tag|args|call|reason|response"
              + "|inner_");

  /** Further ones of vocabularies whose replies are messages of channels. */
  private static final Set<String> CHANNELS = Set.of("<|start|>", "<|end|>", "<|return|>");

  private final Vocabulary vocabulary;
  private final String fingerprint;
  private final Map<Integer, String> markup;

  VocabularyTokenizer(Vocabulary vocabulary, String fingerprint) {
    this.vocabulary = vocabulary;
    this.fingerprint = fingerprint;
    this.markup = markup(vocabulary);
  }

  /**
   * Appends the ids of a run of plain text.
   *
   * @param text well-formed UTF-16
   * @param first whether the run begins the text
   */
  abstract void encodeRun(char[] text, int from, int to, boolean first, IntList ids);

  @Override
  public final int[] encode(CharSequence text) {
    char[] chars = wellFormed(text);
    IntList ids = new IntList(chars.length / 3);
    encodeRun(chars, 0, chars.length, true, ids);
    return ids.copy(0);
  }

  @Override
  public final int[] encodeWithSpecial(CharSequence text) {
    return encodeRuns(text, -1, true);
  }

  /**
   * Ids of a text in which added tokens are recognised, after which one character is removed from
   * the runs between them: where it stands inside an added token's text, that text stays plain.
   *
   * @param separator the character, or -1 for none
   * @param atStart whether the text begins the prompt
   */
  public final int[] encodeRuns(CharSequence text, int separator, boolean atStart) {
    char[] chars = wellFormed(text);
    AddedTokens added = vocabulary.added();
    IntList ids = new IntList(chars.length / 3);
    int start = 0;
    int at = 0;
    while (at < chars.length) {
      AddedToken token = added.match(chars, at, chars.length);
      if (token == null) {
        at++;
        continue;
      }
      int end = token.stripLeft() ? lastInk(chars, start, at) : at;
      end = without(separator, chars, start, end);
      encodeNonEmpty(chars, start, end, atStart && start == 0, ids);
      ids.add(token.id());
      at += token.text().length();
      if (token.stripRight()) {
        at = ClassRuns.endOfRun(chars, at, chars.length, UnicodeClasses.SPACE);
      }
      start = at;
    }
    int end = without(separator, chars, start, chars.length);
    encodeNonEmpty(chars, start, end, atStart && start == 0, ids);
    return ids.copy(0);
  }

  private void encodeNonEmpty(char[] chars, int from, int to, boolean first, IntList ids) {
    if (from < to) {
      encodeRun(chars, from, to, first, ids);
    }
  }

  /** Removes a character from a range in place and returns the range's new end. */
  private static int without(int separator, char[] chars, int from, int to) {
    if (separator < 0) {
      return to;
    }
    int end = from;
    for (int i = from; i < to; i++) {
      if (chars[i] != separator) {
        chars[end++] = chars[i];
      }
    }
    return end;
  }

  private static int lastInk(char[] chars, int from, int to) {
    while (to > from && UnicodeClasses.of(chars[to - 1]) == UnicodeClasses.SPACE) {
      to--;
    }
    return to;
  }

  /** The text with lone surrogates replaced by U+FFFD. */
  public static char[] wellFormed(CharSequence text) {
    char[] chars = text.toString().toCharArray();
    for (int i = 0; i < chars.length; i++) {
      if (Character.isSurrogate(chars[i])) {
        if (i + 1 < chars.length && Character.isSurrogatePair(chars[i], chars[i + 1])) {
          i++;
        } else {
          chars[i] = REPLACEMENT;
        }
      }
    }
    return chars;
  }

  public final Vocabulary vocabulary() {
    return vocabulary;
  }

  @Override
  public final int vocabSize() {
    return vocabulary.size();
  }

  @Override
  public final Map<Integer, String> markup() {
    return markup;
  }

  private static Map<Integer, String> markup(Vocabulary vocabulary) {
    Map<Integer, String> markup = new HashMap<>();
    Collection<AddedToken> all = vocabulary.added().all();
    boolean channels = all.stream().anyMatch(token -> token.text().equals("<|channel|>"));
    for (AddedToken token : all) {
      boolean marks =
          MARKUP.matcher(token.text()).find() || channels && CHANNELS.contains(token.text());
      if (token.special() && marks && !vocabulary.endsTurn(token.id())) {
        markup.put(token.id(), token.text());
      }
    }
    return Map.copyOf(markup);
  }

  @Override
  public final byte[] bytes(int id) {
    byte[] bytes = new byte[vocabulary.byteCount(id)];
    vocabulary.copyBytes(id, bytes, 0);
    return bytes;
  }

  @Override
  public final int byteCount(int id) {
    return vocabulary.byteCount(id);
  }

  @Override
  public final int copyBytes(int id, byte[] target, int at) {
    return vocabulary.copyBytes(id, target, at);
  }

  @Override
  public final int[] endOfTurnIds() {
    return vocabulary.endOfTurnIds();
  }

  @Override
  public final String fingerprint() {
    return fingerprint;
  }
}
