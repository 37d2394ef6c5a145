package io.radixflow.grammar;

import io.radixflow.grammar.GrammarSpec.Kind;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Compiles and follows small grammars of each kind, so that the first grammar of a reply does not
 * wait for class loading, compilation of hot code and Unicode tables. Takes a few hundred
 * milliseconds once per process, on the caller's thread.
 */
public final class GrammarWarmUp {
  private static final int ROUNDS = 8;

  /** Number of bytes to follow in each grammar. */
  private static final int LENGTH = 40;

  private static final String SCHEMA =
      "{\"$defs\":{\"item\":{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\","
          + "\"format\":\"uuid\"},\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
          + "\"maxItems\":3}},\"required\":[\"id\"]}},\"type\":\"object\",\"properties\":{"
          + "\"text\":{\"type\":\"string\"},\"title\":{\"type\":\"string\",\"minLength\":3,"
          + "\"maxLength\":80},\"slug\":{\"type\":\"string\",\"pattern\":\"^[a-z0-9-]+$\","
          + "\"maxLength\":40},\"mail\":{\"type\":\"string\",\"format\":\"email\","
          + "\"maxLength\":99},\"at\":{\"type\":\"string\",\"format\":\"date-time\"},"
          + "\"page\":{\"type\":\"string\",\"format\":\"uri\"},\"count\":{\"type\":\"integer\","
          + "\"minimum\":0,\"maximum\":100000},\"share\":{\"type\":\"number\",\"multipleOf\":0.5},"
          + "\"state\":{\"enum\":[\"new\",\"open\",2,null]},\"on\":{\"type\":\"boolean\"},"
          + "\"any\":{},\"item\":{\"$ref\":\"#/$defs/item\"},\"what\":{\"oneOf\":[{\"type\":"
          + "\"object\",\"properties\":{\"k\":{\"const\":\"a\"}},\"required\":[\"k\"]},{\"type\":"
          + "\"string\",\"pattern\":\"^x.*a.{3}$\"},{\"type\":\"string\",\"pattern\":\"^y.*b.{3}$\"}"
          + "]}},\"required\":[\"text\",\"title\"],\"additionalProperties\":false}";

  private static final List<GrammarSpec> SPECS =
      List.of(
          new GrammarSpec(Kind.JSON_SCHEMA, SCHEMA),
          new GrammarSpec(Kind.JSON_SCHEMA, "{\"type\":\"object\",\"minProperties\":1}"),
          new GrammarSpec(Kind.REGEX, "(?i)[^a-z]?(a|b+c){2,5}\\w*\\p{Lu}|\\p{Greek}.*x"),
          new GrammarSpec(
              Kind.LARK,
              "start: sum\nsum: sum (\"+\" | \"-\") part | part\npart: N | \"(\" sum \")\"\n"
                  + "N: /[0-9]+/ | \"x\"i\n%ignore / +/"),
          new GrammarSpec(Kind.GBNF, "root ::= item (\",\" item)*\nitem ::= [a-z]{1,9} | \"\\n\""));

  private static final AtomicBoolean DONE = new AtomicBoolean();

  private GrammarWarmUp() {}

  /** Runs the warm-up. Later calls do nothing. Ends early if the thread is interrupted. */
  public static void run() {
    if (DONE.getAndSet(true)) {
      return;
    }
    byte[][] bytes = new byte[256][];
    for (int value = 0; value < bytes.length; value++) {
      bytes[value] = new byte[] {(byte) value};
    }
    TokenTrie trie = TokenTrie.of(List.of(bytes));
    for (int round = 0; round < ROUNDS && !Thread.currentThread().isInterrupted(); round++) {
      for (GrammarSpec spec : SPECS) {
        follow(Grammar.of(spec).matcher(trie), round);
      }
    }
  }

  /** Feeds allowed bytes one after the other. */
  private static void follow(GrammarMatcher matcher, int seed) {
    long[] mask = new long[4];
    for (int i = 0; i < LENGTH; i++) {
      matcher.mask(mask);
      int from = (seed * 31 + i * 7) % 256;
      int next = -1;
      for (int j = 0; j < 256 && next < 0; j++) {
        int value = (from + j) % 256;
        next = (mask[value >> 6] >>> value & 1) != 0 ? value : -1;
      }
      if (next < 0 || !matcher.acceptToken(next)) {
        return;
      }
    }
  }
}
