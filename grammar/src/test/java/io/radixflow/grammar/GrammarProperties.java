package io.radixflow.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.schema.Whitespace;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Random grammars beside judges that know nothing of how grammars are compiled here. */
class GrammarProperties {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final JsonSchemaFactory SCHEMAS =
      JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012);

  /** Numbers that the validator rounds. */
  private static final Pattern BEYOND_DOUBLES = Pattern.compile("[0-9.]{11}|[eE][+-]?[0-9]{2}");

  // ---- regular expressions beside java.util.regex ----

  private static String regex(Random random, int depth) {
    int kind = depth == 0 ? random.nextInt(4) : random.nextInt(11);
    return switch (kind) {
      case 0, 1 -> String.valueOf("abé".charAt(random.nextInt(3)));
      case 2 -> random.nextBoolean() ? "[ab]" : "[^a]";
      case 3 -> ".";
      case 4, 5 -> regex(random, depth - 1) + regex(random, depth - 1);
      case 6 -> "(" + regex(random, depth - 1) + "|" + regex(random, depth - 1) + ")";
      case 7 -> "(" + regex(random, depth - 1) + ")*";
      case 8 -> "(" + regex(random, depth - 1) + ")?";
      case 9 -> "(" + regex(random, depth - 1) + "){1,3}";
      default -> "(?:" + regex(random, depth - 1) + ")+";
    };
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(7); i > 0; i--) {
      text.append("abbaéc".charAt(random.nextInt(6)));
    }
    return text.toString();
  }

  @Property(tries = 150)
  void expressionsMatchWhatJavaMatches(@ForAll long seed) {
    Random random = new Random(seed);
    String regex = regex(random, 4);
    Grammar grammar = Grammar.regex(regex);
    Pattern pattern = Pattern.compile(regex);
    for (int i = 0; i < 20; i++) {
      String text = text(random);
      assertThat(accepts(grammar, text))
          .as(regex + " on " + text)
          .isEqualTo(pattern.matcher(text).matches());
    }
  }

  private static String looking(Random random, int depth) {
    String a = regex(random, 1);
    String b = depth == 0 ? regex(random, 1) : looking(random, depth - 1);
    return switch (random.nextInt(9)) {
      case 0 -> "(?=" + a + ")" + b;
      case 1 -> "(?!" + a + ")" + b;
      case 2 -> b + "(?!" + a + "$)" + a;
      case 3 -> "((?!" + a + ")" + b + ")*" + a;
      case 4 -> "(?:" + b + "(?<![aé])" + a + "?)+";
      case 5 -> a + "(?<=b|^)" + b;
      case 6 -> "(?:(?=" + b + ")[abé]|b){2,3}" + a;
      case 7 -> "^?" + b + "(?:" + a + "$)?";
      default -> "(?:" + a + "|" + b + ")";
    };
  }

  private static String anchored(Random random) {
    String inner = random.nextBoolean() ? regex(random, 3) : looking(random, 1);
    return switch (random.nextInt(5)) {
      case 0 -> "^" + inner;
      case 1 -> inner + "$";
      case 2 -> "^(" + inner + ")$";
      case 3 -> "(^" + inner + "|b" + inner + "$)";
      default -> inner;
    };
  }

  /** The grammar of a schema; null if nothing meets it. */
  private static Grammar possible(ObjectNode schema) {
    try {
      return Grammar.jsonSchema(schema.toString(), Whitespace.COMPACT);
    } catch (GrammarException e) {
      Assume.that(!e.getMessage().contains("too large"));
      assertThat(e).as(schema.toString()).hasMessageContaining("no text follows");
      return null;
    }
  }

  @Property(tries = 300)
  void patternsAreFoundWhereJavaFindsThem(@ForAll long seed) {
    Random random = new Random(seed);
    String regex = anchored(random);
    ObjectNode schema = JSON.createObjectNode().put("type", "string").put("pattern", regex);
    Grammar grammar = possible(schema);
    Pattern pattern = Pattern.compile(regex);
    for (int i = 0; i < 20; i++) {
      String text = text(random);
      assertThat(grammar != null && accepts(grammar, '"' + text + '"'))
          .as(regex + " in " + text)
          .isEqualTo(pattern.matcher(text).find());
    }
  }

  @Property(tries = 300)
  void patternsAndLengthsHoldTogether(@ForAll long seed) {
    Random random = new Random(seed);
    String regex = anchored(random);
    int min = random.nextInt(4);
    int max = min + random.nextInt(4);
    ObjectNode schema = JSON.createObjectNode().put("type", "string").put("pattern", regex);
    schema.put("minLength", min).put("maxLength", max);
    Grammar grammar = possible(schema);
    Pattern pattern = Pattern.compile(regex);
    for (int i = 0; i < 40; i++) {
      String text = text(random);
      boolean valid = text.length() >= min && text.length() <= max && pattern.matcher(text).find();
      assertThat(grammar != null && accepts(grammar, '"' + text + '"'))
          .as(schema + " and " + text)
          .isEqualTo(valid);
    }
  }

  private static boolean accepts(Grammar grammar, String text) {
    GrammarMatcher matcher = grammar.matcher();
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    try {
      return matcher.acceptBytes(bytes) == bytes.length && matcher.canEnd();
    } catch (GrammarException e) {
      // a derivative may pass the bound even where the expression does not
      Assume.that(!e.getMessage().contains("too large"));
      throw e;
    }
  }

  // ---- schemas beside a validator ----

  private static ObjectNode schema(Random random, int depth) {
    ObjectNode schema = JSON.createObjectNode();
    if (depth > 0 && random.nextInt(4) == 0) {
      rarely(random, depth, schema);
    }
    switch (random.nextInt(depth == 0 ? 5 : 9)) {
      case 0 -> schema.put("type", random.nextBoolean() ? "boolean" : "null");
      case 1 -> number(random, schema);
      case 2 -> string(random, schema);
      case 3 -> listed(random, schema.putArray("enum"));
      case 4 -> schema.putArray("type").add("string").add("integer").add("null");
      case 5, 6 -> object(random, depth, schema.put("type", "object"));
      case 7 -> {
        schema.put("type", "array").set("items", schema(random, depth - 1));
        schema.put("minItems", random.nextInt(3));
        schema.put("maxItems", 2 + random.nextInt(2));
        if (random.nextBoolean()) {
          schema.putArray("prefixItems").add(schema(random, depth - 1));
        }
      }
      default -> {
        ArrayNode branches = schema.putArray(random.nextBoolean() ? "anyOf" : "allOf");
        branches.add(schema(random, depth - 1)).add(schema(random, depth - 1));
      }
    }
    return schema;
  }

  private static void rarely(Random random, int depth, ObjectNode schema) {
    switch (random.nextInt(7)) {
      case 0 -> schema.set("not", schema(random, 0));
      case 1 -> {
        schema.set("if", schema(random, 0));
        schema.set("then", schema(random, depth - 1));
        schema.set("else", schema(random, depth - 1));
      }
      case 2 -> {
        ArrayNode branches = schema.putArray("oneOf");
        branches.add(schema(random, 0)).add(schema(random, 0)).add(schema(random, 0));
      }
      case 3 -> schema.putObject("propertyNames").put("pattern", "^(?!ab)[a-cé]");
      case 4 -> schema.putObject("dependentRequired").putArray("a").add("c");
      case 5 -> {
        schema.set("contains", schema(random, 0));
        schema.put("minContains", random.nextInt(3));
      }
      default -> schema.putObject("dependentSchemas").set("a", schema(random, depth - 1));
    }
  }

  private static void number(Random random, ObjectNode schema) {
    boolean integer = random.nextBoolean();
    schema.put("type", integer ? "integer" : "number");
    double low = (random.nextInt(400) - 200) / (integer ? 1.0 : 8.0);
    if (random.nextBoolean()) {
      schema.put(random.nextBoolean() ? "minimum" : "exclusiveMinimum", low);
    }
    if (random.nextBoolean()) {
      schema.put(
          random.nextBoolean() ? "maximum" : "exclusiveMaximum", low + 1 + random.nextInt(300));
    }
    if (random.nextInt(4) == 0) {
      schema.put("multipleOf", integer ? 1 + random.nextInt(30) : 0.5);
    }
  }

  private static final List<String> PATTERNS =
      List.of(
          "^[a-c]+$",
          "b",
          "^x?",
          "[0-9]$",
          "^[^x]{2,9}$",
          "^[a-zé ]{1,20}$",
          "^\\w*$",
          "^[^x]*a[^x]{2}$");

  private static void string(Random random, ObjectNode schema) {
    schema.put("type", "string");
    if (random.nextBoolean()) {
      schema.put("minLength", random.nextInt(4));
    }
    if (random.nextBoolean()) {
      schema.put("maxLength", 3 + random.nextInt(random.nextBoolean() ? 4 : 30));
    }
    if (random.nextInt(3) == 0) {
      schema.put("pattern", PATTERNS.get(random.nextInt(PATTERNS.size())));
    }
  }

  private static void listed(Random random, ArrayNode values) {
    values.add("a").add("ab\"\\\n").add(random.nextInt(20)).addNull().add(true);
    values.addArray().add(1).add("é");
    values.addObject().put("k", "v");
  }

  private static void object(Random random, int depth, ObjectNode schema) {
    ObjectNode properties = schema.putObject("properties");
    ArrayNode required = schema.putArray("required");
    for (int i = random.nextInt(4); i > 0; i--) {
      String name = List.of("a", "ab", "b c", "é", "\"").get(random.nextInt(5));
      properties.set(name, schema(random, depth - 1));
      if (random.nextBoolean() && !properties.isEmpty()) {
        required.add(name);
      }
    }
    switch (random.nextInt(3)) {
      case 0 -> schema.put("additionalProperties", false);
      case 1 -> schema.set("additionalProperties", schema(random, depth - 1));
      default -> schema.putObject("patternProperties").set("^a", schema(random, depth - 1));
    }
    if (random.nextInt(3) == 0) {
      schema.put("maxProperties", 1 + random.nextInt(3));
    }
    if (random.nextInt(3) == 0) {
      schema.put("minProperties", random.nextInt(3));
    }
  }

  /** A text by random bytes that the grammar allows; null if it does not end soon. */
  private static String sample(Grammar grammar, String grammarText, Random random) {
    GrammarMatcher matcher = grammar.matcher();
    byte[] text = new byte[600];
    byte[] common = "\",:{}[]0123456789-.abcéxnulltruefals\\u".getBytes(StandardCharsets.UTF_8);
    for (int length = 0; length < text.length; length++) {
      boolean mayEnd = matcher.canEnd();
      if (mayEnd && random.nextInt(3) == 0) {
        return new String(text, 0, length, StandardCharsets.UTF_8);
      }
      int tried = 0;
      byte next;
      do {
        tried++;
        next = tried < 200 ? common[random.nextInt(common.length)] : (byte) (tried - 200);
      } while (matcher.acceptBytes(new byte[] {next}) == 0 && tried < 456);
      if (mayEnd && tried == 456) {
        return new String(text, 0, length, StandardCharsets.UTF_8);
      }
      assertThat(tried)
          .as(
              grammarText
                  + ": some byte is allowed after "
                  + new String(text, 0, length, StandardCharsets.UTF_8))
          .isLessThan(456);
      text[length] = next;
    }
    return null;
  }

  @Property(tries = 200)
  void whateverASchemaAllowsIsValid(@ForAll long seed) throws Exception {
    Random random = new Random(seed);
    ObjectNode schema = schema(random, 3);
    Grammar grammar;
    try {
      grammar =
          Grammar.jsonSchema(
              schema.toString(), random.nextBoolean() ? Whitespace.ANY : Whitespace.COMPACT);
    } catch (GrammarException e) {
      return;
    }
    JsonSchema judge = SCHEMAS.getSchema(schema);
    for (int i = 0; i < 10; i++) {
      String text = sample(grammar, schema.toString(), random);
      if (text != null && !BEYOND_DOUBLES.matcher(text).find()) {
        assertThat(judge.validate(JSON.readTree(text))).as(schema + " allows " + text).isEmpty();
      }
    }
  }

  // ---- masks beside one token at a time ----

  private static TokenTrie trie(Random random) {
    List<byte[]> tokens = new ArrayList<>();
    for (int b = 0; b < 256; b++) {
      tokens.add(new byte[] {(byte) b});
    }
    String parts = "\"\"{}[]:,,  \\\n0129.-eabé😀truenl";
    while (tokens.size() < 700) {
      StringBuilder text = new StringBuilder();
      for (int i = 1 + random.nextInt(random.nextInt(4) == 0 ? 18 : 4); i > 0; i--) {
        text.appendCodePoint(
            parts.codePoints().toArray()[random.nextInt(parts.codePointCount(0, parts.length()))]);
      }
      byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
      tokens.add(
          random.nextInt(8) == 0 && bytes.length > 1
              ? java.util.Arrays.copyOf(bytes, bytes.length - 1)
              : bytes);
    }
    tokens.add(new byte[0]);
    return TokenTrie.of(tokens, tokens.size() - 1);
  }

  private static Grammar anyGrammar(Random random) {
    List<String> wide =
        List.of(
            "[^x]{0,12}",
            "[^\"]{1,5}\"e?",
            "(.|\\n)*e",
            "(.*[ab]){2}\"",
            "\\PC{3,}|[a-z]*",
            "([a-e]|é){2,}");
    return switch (random.nextInt(7)) {
      case 0 -> Grammar.regex(regex(random, 4));
      case 3 -> Grammar.regex(wide.get(random.nextInt(wide.size())));
      case 4 ->
          Grammar.lark(
              "start: W (\" \" W)* \"\\n\"\nW: /" + wide.get(random.nextInt(wide.size())) + "/");
      case 1 ->
          Grammar.lark(
              "start: \"[\" [start (\",\" start)*] \"]\" | N\n%ignore / +/\nN: /-?[0-9]+/");
      case 2 -> Grammar.lark("start: start \"e\" t | t\nt: \"a\" | \"[\" start \"]\" | \"é\"");
      default -> {
        try {
          yield Grammar.jsonSchema(
              schema(random, 3).toString(),
              random.nextBoolean() ? Whitespace.ANY : Whitespace.COMPACT);
        } catch (GrammarException e) {
          yield Grammar.jsonSchema("{}", Whitespace.ANY);
        }
      }
    };
  }

  @Property(tries = 30)
  void aMaskAllowsWhatOneTokenAtATimeIsAccepted(@ForAll long seed) {
    Random random = new Random(seed);
    TokenTrie trie = trie(random);
    Grammar grammar = anyGrammar(random);
    GrammarMatcher matcher = grammar.matcher(trie);
    long[] mask = new long[(trie.vocabSize() + 63) / 64];
    List<Integer> ids = new ArrayList<>();
    for (int step = 0; step < 8; step++) {
      matcher.mask(mask);
      List<Integer> allowed = new ArrayList<>();
      for (int id = 0; id < trie.vocabSize(); id++) {
        GrammarMatcher each = grammar.matcher(trie);
        ids.forEach(each::acceptToken);
        boolean accepted = each.acceptToken(id);
        assertThat(BitSet.valueOf(mask).get(id))
            .as("token " + id + " after " + ids)
            .isEqualTo(accepted);
        if (accepted && id < trie.vocabSize() - 1) {
          allowed.add(id);
        }
      }
      if (allowed.isEmpty()) {
        return;
      }
      int next = allowed.get(random.nextInt(allowed.size()));
      matcher.acceptToken(next);
      ids.add(next);
    }
  }
}
