package io.radixflow.protocol.event;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.TokenOptions;
import java.util.ArrayList;
import java.util.List;

/** Reads the options that act on single tokens. They have vLLM's names. */
final class TokenOptionsReader {
  static final int MAX_STOP_IDS = 256;
  static final int MAX_ALLOWED_IDS = 100_000;
  static final int MAX_BAD_WORDS = 256;
  static final int MAX_BAD_WORD_LENGTH = 256;

  /** Options of a prompt without a chat template. */
  private static final List<String> OF_PROMPTS =
      List.of("truncate_prompt_tokens", "add_special_tokens", "echo");

  private TokenOptionsReader() {}

  /**
   * Reads the options that the fields give, or null if they give none.
   *
   * @param prompt whether options of a prompt without a chat template may be given
   */
  static TokenOptions read(JsonObject fields, boolean prompt) {
    for (String name : OF_PROMPTS) {
      if (!prompt && fields.has(name)) {
        throw new InvalidInputException(
            name + " acts on a prompt without a chat template: it needs the field prompt");
      }
    }
    TokenOptions given =
        new TokenOptions(
            toInt(fields.integer("min_tokens", 0, Integer.MAX_VALUE)),
            ids(fields, "stop_token_ids", 0, MAX_STOP_IDS),
            fields.bool("include_stop_str_in_output"),
            badWords(fields),
            ids(fields, "allowed_token_ids", 1, MAX_ALLOWED_IDS),
            fields.bool("skip_special_tokens"),
            toInt(fields.integer("truncate_prompt_tokens", 1, Integer.MAX_VALUE)),
            fields.bool("add_special_tokens"),
            toInt(fields.integer("prompt_logprobs", 0, 20)),
            fields.bool("echo"),
            fields.bool("return_token_ids"),
            fields.bool("return_progress"));
    return given.equals(TokenOptions.NONE) ? null : given;
  }

  private static List<Integer> ids(JsonObject fields, String field, int least, int most) {
    JsonNode given = fields.array(field, "token ids", most);
    if (given == null) {
      return null;
    }
    if (given.size() < least) {
      throw new InvalidInputException(field + " is empty: no token could come");
    }
    return JsonObject.naturals(field, given);
  }

  private static List<String> badWords(JsonObject fields) {
    JsonNode given = fields.array("bad_words", "strings", MAX_BAD_WORDS);
    if (given == null) {
      return null;
    }
    List<String> words = new ArrayList<>(given.size());
    for (JsonNode each : given) {
      String word = JsonObject.text("bad_words[" + words.size() + "]", each);
      int length = Texts.length(word);
      if (word.isBlank() || length > MAX_BAD_WORD_LENGTH) {
        throw new InvalidInputException(
            "bad_words has a string of %d characters; it must have 1 to %d, and not only white space"
                .formatted(length, MAX_BAD_WORD_LENGTH));
      }
      words.add(Texts.wellFormed(word));
    }
    return words;
  }

  private static Integer toInt(Long value) {
    return value == null ? null : Math.toIntExact(value);
  }
}
