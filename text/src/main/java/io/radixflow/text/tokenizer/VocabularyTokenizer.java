package io.radixflow.text.tokenizer;

import io.radixflow.text.pretokenizer.ClassRuns;
import io.radixflow.text.pretokenizer.PreTokenizer;
import io.radixflow.text.regex.UnicodeClasses;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A tokenizer from a model file. It searches the text for added tokens. It normalises the runs
 * between them, splits them into pieces, and encodes each piece.
 */
public final class VocabularyTokenizer implements Tokenizer {

  private static final char REPLACEMENT = '\uFFFD';

  /** Matches the special tokens that mark tool calls and reasoning. */
  private static final Pattern MARKUP =
      Pattern.compile(
          "(?i)tool|action|think|channel|message|constrain|python_tag|args|call|reason|response"
              + "|inner_");

  /** Further special tokens that do so in vocabularies with messages in channels. */
  private static final Set<String> CHANNELS = Set.of("<|start|>", "<|end|>", "<|return|>");

  /**
   * The stages that encode a run of plain text.
   *
   * @param preTokenizer splits the first run of the text
   * @param laterPreTokenizer splits all other runs
   * @param dropsLeadingSpace whether one leading space is dropped from a reply's text
   */
  record Pipeline(
      TextNormalizer normalizer,
      PreTokenizer preTokenizer,
      PreTokenizer laterPreTokenizer,
      PieceEncoder encoder,
      boolean dropsLeadingSpace) {}

  /**
   * The added tokens to search for.
   *
   * @param raw tokens to search for in the original text
   * @param normalized tokens to search for in the normalised runs between these
   */
  private record Search(AddedTokens raw, AddedTokens normalized) {}

  /** Receives the runs of plain text to encode. */
  private interface RunSink {
    void run(char[] text, int from, int to, boolean first);
  }

  private final Vocabulary vocabulary;
  private final Pipeline pipeline;
  private final String fingerprint;
  private final Search everywhere;
  private final Search inPlainText;
  private final Map<Integer, String> markup;

  VocabularyTokenizer(Vocabulary vocabulary, Pipeline pipeline, String fingerprint) {
    this.vocabulary = vocabulary;
    this.pipeline = pipeline;
    this.fingerprint = fingerprint;
    this.everywhere = search(vocabulary.added().all());
    this.inPlainText =
        search(vocabulary.added().all().stream().filter(AddedToken::isBlank).toList());
    this.markup = markup(vocabulary);
  }

  private Search search(Collection<AddedToken> tokens) {
    return new Search(
        new AddedTokens(tokens.stream().filter(token -> !token.match().normalized()).toList()),
        new AddedTokens(
            tokens.stream()
                .filter(token -> token.match().normalized())
                .map(
                    token ->
                        new AddedToken(
                            pipeline.normalizer.normalize(token.text()),
                            token.id(),
                            token.special(),
                            token.match()))
                .toList()));
  }

  /** Encodes a text. No token in it is special, except white space that is a token. */
  @Override
  public int[] encode(CharSequence text) {
    return encode(wellFormed(text), inPlainText, -1, true);
  }

  @Override
  public int[] encodeWithSpecial(CharSequence text) {
    return encodeRuns(text, -1, true);
  }

  /**
   * Encodes a text. Recognises added tokens, and then removes {@code separator} from the runs
   * between them. A separator inside the text of an added token keeps that text from becoming the
   * token.
   *
   * @param separator a character, or -1 for none
   * @param atStart whether the text begins the prompt
   */
  public int[] encodeRuns(CharSequence text, int separator, boolean atStart) {
    return encode(wellFormed(text), everywhere, separator, atStart);
  }

  private int[] encode(char[] chars, Search search, int separator, boolean atStart) {
    IntList ids = new IntList(chars.length / 3);
    RunSink plain =
        (text, from, to, first) ->
            encodeRun(text, from, without(separator, text, from, to), first, ids);
    if (search.normalized.isEmpty()) {
      search(
          chars,
          search.raw,
          atStart,
          ids,
          (text, from, to, first) -> {
            int end = without(separator, text, from, to);
            if (from < end) {
              char[] run = normalized(text, from, end);
              encodeRun(run, 0, run.length, first, ids);
            }
          });
    } else {
      search(
          chars,
          search.raw,
          atStart,
          ids,
          (text, from, to, first) ->
              search(normalized(text, from, to), search.normalized, first, ids, plain));
    }
    return ids.copy(0);
  }

  private char[] normalized(char[] text, int from, int to) {
    return pipeline.normalizer.normalize(new String(text, from, to - from)).toCharArray();
  }

  private void encodeRun(char[] text, int from, int to, boolean first, IntList ids) {
    if (from < to) {
      PreTokenizer cut = first ? pipeline.preTokenizer : pipeline.laterPreTokenizer;
      cut.split(
          text, from, to, (chars, start, end) -> pipeline.encoder.encode(chars, start, end, ids));
    }
  }

  /** Adds the ids of the tokens that are found, and passes on the runs between them. */
  private static void search(
      char[] text, AddedTokens tokens, boolean atStart, IntList ids, RunSink sink) {
    int start = 0;
    int at = 0;
    while (at < text.length) {
      AddedToken token = tokens.match(text, at, text.length);
      int next = at + (token == null ? 1 : token.text().length());
      if (token == null || token.match().singleWord() && isInWord(text, at, next)) {
        at = next;
        continue;
      }
      int end = token.match().stripLeft() ? lastInk(text, start, at) : at;
      if (start < end) {
        sink.run(text, start, end, atStart && start == 0);
      }
      ids.add(token.id());
      at = next;
      if (token.match().stripRight()) {
        at = ClassRuns.endOfRun(text, at, text.length, UnicodeClasses.SPACE);
      }
      start = at;
    }
    if (start < text.length) {
      sink.run(text, start, text.length, atStart && start == 0);
    }
  }

  private static boolean isInWord(char[] text, int from, int to) {
    return from > 0 && UnicodeClasses.isWord(Character.codePointBefore(text, from))
        || to < text.length && UnicodeClasses.isWord(Character.codePointAt(text, to));
  }

  /** Removes a character from a range in place. Returns the new end of the range. */
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

  /** Returns the text with lone surrogates replaced by U+FFFD. */
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

  public Vocabulary vocabulary() {
    return vocabulary;
  }

  @Override
  public int vocabSize() {
    return vocabulary.size();
  }

  @Override
  public boolean dropsLeadingSpace() {
    return pipeline.dropsLeadingSpace;
  }

  @Override
  public Map<Integer, String> markup() {
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
  public Map<Integer, String> specials() {
    Map<Integer, String> specials = new HashMap<>();
    for (AddedToken token : vocabulary.added().all()) {
      if (vocabulary.byteCount(token.id()) == 0) {
        specials.put(token.id(), token.text());
      }
    }
    return specials;
  }

  @Override
  public byte[] bytes(int id) {
    byte[] bytes = new byte[vocabulary.byteCount(id)];
    vocabulary.copyBytes(id, bytes, 0);
    return bytes;
  }

  @Override
  public int byteCount(int id) {
    return vocabulary.byteCount(id);
  }

  @Override
  public int copyBytes(int id, byte[] target, int at) {
    return vocabulary.copyBytes(id, target, at);
  }

  @Override
  public int[] endOfTurnIds() {
    return vocabulary.endOfTurnIds();
  }

  @Override
  public String fingerprint() {
    return fingerprint;
  }
}
