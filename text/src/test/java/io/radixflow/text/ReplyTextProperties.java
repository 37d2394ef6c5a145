package io.radixflow.text;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.text.tokenizer.VocabularyTokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;

class ReplyTextProperties {

  @Provide
  Arbitrary<String> wellFormed() {
    return Arbitraries.strings()
        .ofMaxLength(40)
        .withChars("ab ß€\n")
        .flatMap(s -> Arbitraries.of(s, s + "😀" + s, "𝔸" + s, s + "한국어"));
  }

  @Provide
  Arbitrary<String> fewLetters() {
    return Arbitraries.strings()
        .withChars("ab😀".toCharArray())
        .ofMaxLength(30)
        .map(s -> new String(VocabularyTokenizer.wellFormed(s)));
  }

  @Provide
  Arbitrary<List<String>> stops() {
    return Arbitraries.strings().withChars("ab").ofMinLength(1).ofMaxLength(5).list().ofMaxSize(4);
  }

  @Property
  void anySplitOfTheBytesGivesTheText(
      @ForAll("wellFormed") String text, @ForAll long cuts, @ForAll boolean dropsLeadingSpace) {
    ReplyText reply = new ReplyText(cut(text, cuts, dropsLeadingSpace), List.of());
    String seen = feed(reply, text, cuts);
    String expected = dropsLeadingSpace && text.startsWith(" ") ? text.substring(1) : text;
    assertThat(seen).isEqualTo(expected).isEqualTo(reply.text());
    assertThat(reply.taken()).isEqualTo(expected.codePointCount(0, expected.length()));
  }

  @Property
  void anySplitOfArbitraryBytesGivesTheSameText(
      @ForAll @Size(max = 30) byte[] bytes, @ForAll long cuts) {
    Bytes whole = new Bytes(List.of(bytes), false);
    ReplyText expected = new ReplyText(whole, List.of());
    expected.accept(0);
    expected.finish();
    List<byte[]> parts = cut(bytes, cuts);
    ReplyText reply = new ReplyText(new Bytes(parts, false), List.of());
    for (int id = 0; id < parts.size(); id++) {
      reply.accept(id);
    }
    reply.finish();
    assertThat(reply.text()).isEqualTo(expected.text());
  }

  @Property(tries = 3000)
  void theFirstCompleteStopEndsTheTextHoweverItIsSplit(
      @ForAll("fewLetters") String text, @ForAll("stops") List<String> stops, @ForAll long cuts) {
    ReplyText reply = new ReplyText(cut(text, cuts, false), stops);
    String seen = feed(reply, text, cuts);
    int end = naiveEnd(text, stops);
    assertThat(seen).isEqualTo(end < 0 ? text : text.substring(0, end)).isEqualTo(reply.text());
  }

  @Property
  void heldTextIsTheLongestBeginningOfAStop(
      @ForAll("fewLetters") String text, @ForAll("stops") List<String> stops) {
    ReplyText reply = new ReplyText(cut(text, 0, false), stops);
    if (naiveEnd(text, stops) < 0) {
      for (int id = 0; id < cut(text.getBytes(StandardCharsets.UTF_8), 0).size(); id++) {
        reply.accept(id);
      }
      int held = 0;
      for (String stop : stops) {
        for (int length = 1; length < stop.length(); length++) {
          held = text.endsWith(stop.substring(0, length)) ? Math.max(held, length) : held;
        }
      }
      assertThat(reply.text()).isEqualTo(text.substring(0, text.length() - held));
    }
  }

  /** The end of the text by definition: before the first complete stop string, or -1. */
  private static int naiveEnd(String text, List<String> stops) {
    for (int end = 1; end <= text.length(); end++) {
      String prefix = text.substring(0, end);
      int longest =
          stops.stream().filter(prefix::endsWith).mapToInt(String::length).max().orElse(0);
      if (longest > 0) {
        return end - longest;
      }
    }
    return -1;
  }

  /** Feeds all tokens, checking that what is taken fits together. */
  private static String feed(ReplyText reply, String text, long cuts) {
    StringBuilder seen = new StringBuilder();
    int tokens = cut(text.getBytes(StandardCharsets.UTF_8), cuts).size();
    for (int id = 0; id <= tokens; id++) {
      if (id < tokens) {
        reply.accept(id);
      } else {
        reply.finish();
      }
      assertThat(reply.taken()).isEqualTo(seen.codePointCount(0, seen.length()));
      seen.append(reply.take());
      assertThat(reply.hasNew()).isFalse();
    }
    return seen.toString();
  }

  private static Bytes cut(String text, long cuts, boolean dropsLeadingSpace) {
    return new Bytes(cut(text.getBytes(StandardCharsets.UTF_8), cuts), dropsLeadingSpace);
  }

  private static List<byte[]> cut(byte[] bytes, long cuts) {
    Random random = new Random(cuts);
    List<byte[]> parts = new ArrayList<>();
    int at = 0;
    while (at < bytes.length) {
      int next = Math.min(bytes.length, at + random.nextInt(5));
      parts.add(Arrays.copyOfRange(bytes, at, next));
      at = next;
    }
    return parts;
  }
}
