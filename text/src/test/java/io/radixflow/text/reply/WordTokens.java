package io.radixflow.text.reply;

import io.radixflow.text.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** A tokenizer of a few words and single bytes, for tests; what stands in angles is special. */
final class WordTokens implements Tokenizer {
  private final List<String> words;
  private final Map<Integer, String> markup = new HashMap<>();

  WordTokens(String... words) {
    this.words = List.of(words);
    for (int id = 0; id < words.length; id++) {
      if (words[id].startsWith("<|")) {
        markup.put(256 + id, words[id]);
      }
    }
  }

  @Override
  public int vocabSize() {
    return 256 + words.size();
  }

  @Override
  public int[] encode(CharSequence text) {
    byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
    return IntStream.range(0, bytes.length).map(i -> bytes[i] & 0xFF).toArray();
  }

  /** Takes the first word that stands at each position, and a byte where none does. */
  @Override
  public int[] encodeWithSpecial(CharSequence text) {
    IntStream.Builder ids = IntStream.builder();
    String rest = text.toString();
    while (!rest.isEmpty()) {
      String left = rest;
      String word = words.stream().filter(left::startsWith).findFirst().orElse(null);
      if (word == null) {
        word = rest.substring(0, rest.offsetByCodePoints(0, 1));
        IntStream.of(encode(word)).forEach(ids::add);
      } else {
        ids.add(256 + words.indexOf(word));
      }
      rest = rest.substring(word.length());
    }
    return ids.build().toArray();
  }

  @Override
  public byte[] bytes(int id) {
    if (markup.containsKey(id)) {
      return new byte[0];
    }
    return id < 256 ? new byte[] {(byte) id} : words.get(id - 256).getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public int[] endOfTurnIds() {
    return new int[] {0};
  }

  @Override
  public Map<Integer, String> markup() {
    return markup;
  }

  @Override
  public String fingerprint() {
    return "words";
  }
}
