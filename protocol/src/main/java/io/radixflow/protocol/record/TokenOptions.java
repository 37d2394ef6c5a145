package io.radixflow.protocol.record;

import java.io.Serializable;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * Options for single tokens of a prompt or a reply; null means not given. A Flink POJO; values are
 * checked where events are parsed, and token ids where the vocabulary is known.
 *
 * @param minTokens tokens of the reply before which no end of turn, stop token or stop string ends
 *     it
 * @param stopTokenIds tokens that end the reply
 * @param includeStop whether the text of a reply has the stop string or stop token that ended it
 * @param badWords texts whose tokens never come in sequence
 * @param allowedTokenIds the only tokens that a reply may have
 * @param skipSpecialTokens whether special tokens have no text; true unless given
 * @param truncatePromptTokens how many of the last tokens of a prompt are kept
 * @param addSpecialTokens whether a prompt without a chat template begins with BOS if the tokenizer
 *     adds it; true unless given
 * @param promptLogprobs how many alternatives each token of the prompt has besides its own log
 *     probability
 * @param echo whether the reply shows the text of the prompt's tokens
 * @param returnTokenIds whether the reply shows the ids of its tokens and of the prompt's
 * @param returnProgress whether deltas show how many tokens of the prompt are done
 */
public record TokenOptions(
    Integer minTokens,
    List<Integer> stopTokenIds,
    Boolean includeStop,
    List<String> badWords,
    List<Integer> allowedTokenIds,
    Boolean skipSpecialTokens,
    Integer truncatePromptTokens,
    Boolean addSpecialTokens,
    Integer promptLogprobs,
    Boolean echo,
    Boolean returnTokenIds,
    Boolean returnProgress)
    implements Serializable {

  /** Gives no option. */
  public static final TokenOptions NONE =
      new TokenOptions(null, null, null, null, null, null, null, null, null, null, null, null);

  /**
   * Returns for each option the value of the first options that give it.
   *
   * @param layers in order of precedence; entries may be null
   */
  public static TokenOptions merged(List<GenerationOptions> layers) {
    List<TokenOptions> given =
        layers.stream()
            .filter(Objects::nonNull)
            .map(GenerationOptions::tokens)
            .filter(Objects::nonNull)
            .toList();
    return switch (given.size()) {
      case 0 -> NONE;
      case 1 -> given.get(0);
      default ->
          new TokenOptions(
              first(given, TokenOptions::minTokens),
              first(given, TokenOptions::stopTokenIds),
              first(given, TokenOptions::includeStop),
              first(given, TokenOptions::badWords),
              first(given, TokenOptions::allowedTokenIds),
              first(given, TokenOptions::skipSpecialTokens),
              first(given, TokenOptions::truncatePromptTokens),
              first(given, TokenOptions::addSpecialTokens),
              first(given, TokenOptions::promptLogprobs),
              first(given, TokenOptions::echo),
              first(given, TokenOptions::returnTokenIds),
              first(given, TokenOptions::returnProgress));
    };
  }

  private static <T> T first(List<TokenOptions> layers, Function<TokenOptions, T> field) {
    return layers.stream().map(field).filter(Objects::nonNull).findFirst().orElse(null);
  }

  /**
   * Returns the same options for a reply that an earlier attempt has begun, because its prompt is
   * done.
   */
  public TokenOptions withoutPromptLogprobs() {
    return new TokenOptions(
        minTokens,
        stopTokenIds,
        includeStop,
        badWords,
        allowedTokenIds,
        skipSpecialTokens,
        truncatePromptTokens,
        addSpecialTokens,
        null,
        echo,
        returnTokenIds,
        returnProgress);
  }

  /** Returns whether the reply shows its prompt's tokens. */
  public boolean showsPrompt() {
    return promptLogprobs != null || Boolean.TRUE.equals(echo) || showsTokenIds();
  }

  /** Returns whether the reply shows the ids of its tokens. */
  public boolean showsTokenIds() {
    return Boolean.TRUE.equals(returnTokenIds);
  }

  /** Returns whether deltas show how many tokens of the prompt are done. */
  public boolean showsProgress() {
    return Boolean.TRUE.equals(returnProgress);
  }

  /** Returns the number of tokens before which nothing ends the reply. */
  public int fewestTokens() {
    return minTokens == null ? 0 : minTokens;
  }

  /** Returns the tokens that end the reply. */
  public int[] stopIds() {
    return ids(stopTokenIds);
  }

  /** Returns whether the text of a reply contains the stop string or stop token. */
  public boolean includesStop() {
    return Boolean.TRUE.equals(includeStop);
  }

  /** Returns the ids of a list, ascending; none for null. */
  static int[] ids(List<Integer> list) {
    int[] ids =
        list == null ? new int[0] : list.stream().mapToInt(Integer::intValue).distinct().toArray();
    Arrays.sort(ids);
    return ids;
  }
}
