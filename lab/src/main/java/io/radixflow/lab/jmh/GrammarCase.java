package io.radixflow.lab.jmh;

/**
 * A schema and a document that meets it, as agents and extraction have them.
 *
 * @param text the document, as JSON without whitespace
 * @param ids its tokens, the longest first; empty without a vocabulary
 */
record GrammarCase(String name, String schema, String text, int[] ids) {
  private static final String RESOURCE = "grammar-cases.jsonl";
  private static final int LONGEST = 16;
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Returns all cases; the first has a schema of 100 properties of six kinds. */
  static List<GrammarCase> all(List<byte[]> vocabulary) {
    Map<String, Integer> idOf = new HashMap<>();
    for (int id = 0; id < vocabulary.size(); id++) {
      idOf.putIfAbsent(new String(vocabulary.get(id), StandardCharsets.ISO_8859_1), id);
    }
    List<GrammarCase> cases = new ArrayList<>();
    try (MappingIterator<JsonNode> lines =
        JSON.readerFor(JsonNode.class)
            .readValues(GrammarCase.class.getResourceAsStream(RESOURCE))) {
      while (lines.hasNext()) {
        JsonNode line = lines.next();
        String text = line.get("document").toString();
        cases.add(
            new GrammarCase(
                line.get("name").asText(),
                line.get("schema").toString(),
                text,
                idOf.isEmpty() ? new int[0] : encode(text, idOf)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return cases;
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
}
