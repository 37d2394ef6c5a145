package io.radixflow.lab.bench.operation;

import io.radixflow.grammar.Grammar;
import io.radixflow.grammar.schema.Whitespace;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A schema and a document that satisfies it, as used by agents and for extraction.
 *
 * @param text the document, as JSON without whitespace
 * @param ids the tokens of the text; always the longest possible token
 */
record GrammarCase(String name, String schema, String text, int[] ids) {
  private static final String RESOURCE = "grammar-cases.tsv";
  private static final int LONGEST = 16;

  /** Returns all cases; the first has a schema of 100 properties of six kinds. */
  static List<GrammarCase> all(List<byte[]> vocabulary) {
    Map<String, Integer> idOf = new HashMap<>();
    for (int id = 0; id < vocabulary.size(); id++) {
      idOf.putIfAbsent(new String(vocabulary.get(id), StandardCharsets.ISO_8859_1), id);
    }
    List<GrammarCase> cases = new ArrayList<>();
    String lines = new String(bytes(), StandardCharsets.UTF_8);
    lines
        .lines()
        .map(line -> line.split("\t"))
        .forEach(
            each -> cases.add(new GrammarCase(each[0], each[1], each[2], encode(each[2], idOf))));
    return cases;
  }

  private static byte[] bytes() {
    try (InputStream cases = GrammarCase.class.getResourceAsStream(RESOURCE)) {
      return cases.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int[] encode(String text, Map<String, Integer> idOf) {
    String bytes = new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    IntStream.Builder ids = IntStream.builder();
    for (int at = 0; at < bytes.length(); ) {
      int end = Math.min(bytes.length(), at + LONGEST);
      while (!idOf.containsKey(bytes.substring(at, end))) {
        end--;
      }
      ids.add(idOf.get(bytes.substring(at, end)));
      at = end;
    }
    return ids.build().toArray();
  }

  Grammar compile() {
    return Grammar.jsonSchema(schema, Whitespace.ANY);
  }
}
