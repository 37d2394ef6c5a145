package io.radixflow.lab.bench.operation;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * A vocabulary of 128,000 tokens that resembles vocabularies of large models: bytes, words with and
 * without a leading space, numbers, runs of punctuation and whitespace, other scripts, parts of
 * characters. It is always the same.
 */
final class SyntheticVocabulary {
  static final int SIZE = 128_000;
  static final int END = SIZE - 1;
  private static final int END_AND_BYTES = 257;
  private static final int HALVES = 1_000;

  private static final String[] SYLLABLES = {
    "a", "e", "i", "o", "u", "an", "en", "in", "on", "er", "ar", "or", "al", "el", "st", "tion",
    "ing", "ed", "ly", "re", "de", "con", "pro", "com", "per", "ter", "ver", "ment", "ness", "able",
    "ta", "ti", "to", "le", "li", "lo", "ma", "me", "mi", "mo", "na", "ne", "no", "ra", "ri", "ro",
    "sa", "se", "si", "so", "ba", "be", "bi", "bo", "ca", "ce", "ci", "co", "da", "di", "do", "fa",
    "fe", "fi", "fo", "ga"
  };
  private static final String MARKS = "\"\"\"\"',:;.{}[]()<>=/\\\\-_*#+!?@&|$%  \n\n\t";
  private static final int[] SCRIPTS = {0xC0, 0x180, 0x400, 0x460, 0x5D0, 0x5EA, 0x620, 0x650};

  private final SplittableRandom random = new SplittableRandom(128_000);
  private final LinkedHashSet<String> texts = new LinkedHashSet<>();

  private SyntheticVocabulary() {}

  /** Returns the bytes of each token; the last token has no bytes and ends a turn. */
  static List<byte[]> tokens() {
    return new SyntheticVocabulary().make();
  }

  private List<byte[]> make() {
    List<byte[]> tokens = new ArrayList<>();
    for (int value = 0; value < 256; value++) {
      tokens.add(new byte[] {(byte) value});
    }
    for (int number = 0; number < 1000; number++) {
      add(Integer.toString(number));
    }
    for (int length = 2; length <= 96; length++) {
      for (String blank : new String[] {" ", "\n", "\t", "-", "=", "*"}) {
        add(blank.repeat(length));
      }
    }
    fill(12_000, this::marks);
    fill(14_000, this::script);
    fill(SIZE - END_AND_BYTES - HALVES, this::word);
    texts.forEach(text -> tokens.add(utf8(text)));
    while (tokens.size() < END) {
      tokens.add(half());
    }
    tokens.add(new byte[0]);
    return tokens;
  }

  private void add(String text) {
    if (text.length() > 1) {
      texts.add(text);
    }
  }

  private void fill(int size, Supplier<String> maker) {
    while (texts.size() < size) {
      add(maker.get());
    }
  }

  private String marks() {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(2, 5); i > 0; i--) {
      text.append(MARKS.charAt(random.nextInt(MARKS.length())));
    }
    return random.nextInt(8) == 0 ? syllables(2) + text : text.toString();
  }

  private String syllables(int count) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < count; i++) {
      text.append(
          SYLLABLES[
              Math.min(random.nextInt(SYLLABLES.length), random.nextInt(90)) % SYLLABLES.length]);
    }
    return text.toString();
  }

  private String word() {
    String word = syllables(random.nextInt(1, 6));
    if (random.nextInt(4) == 0) {
      word = Character.toUpperCase(word.charAt(0)) + word.substring(1);
    }
    return random.nextInt(5) < 3 ? " " + word : word;
  }

  private String script() {
    int kind = random.nextInt(6);
    StringBuilder text = new StringBuilder(random.nextBoolean() ? " " : "");
    for (int i = random.nextInt(1, 6); i > 0; i--) {
      int value =
          kind < 4
              ? random.nextInt(SCRIPTS[2 * kind], SCRIPTS[2 * kind + 1])
              : kind == 4 ? random.nextInt(0x4E00, 0x6000) : random.nextInt(0x1F300, 0x1F600);
      text.appendCodePoint(value);
    }
    return text.toString();
  }

  /** Returns bytes that begin or end inside a character. */
  private byte[] half() {
    byte[] whole =
        (" " + new String(Character.toChars(random.nextInt(0x4E00, 0x9FFF))))
            .getBytes(StandardCharsets.UTF_8);
    byte[] other =
        new String(Character.toChars(random.nextInt(0x1F300, 0x1FAFF)))
            .getBytes(StandardCharsets.UTF_8);
    return random.nextBoolean()
        ? Arrays.copyOf(whole, 3)
        : Arrays.copyOfRange(other, random.nextInt(1, 3), 4);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
