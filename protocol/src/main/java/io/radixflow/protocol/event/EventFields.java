package io.radixflow.protocol.event;

import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.EventKind;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The fields of each type of event; the schema has the same table. */
public final class EventFields {

  static final List<String> OPTIONS =
      words(
          """
          temperature top_k top_p min_p repetition_penalty presence_penalty
          frequency_penalty logit_bias max_tokens max_completion_tokens stop seed logprobs
          top_logprobs ignore_eos n priority tools tool_choice parallel_tool_calls tool_parser
          chat_template_kwargs reasoning_effort thinking_token_budget separate_reasoning
          response_format structured_outputs guided_json guided_regex guided_grammar
          guided_choice prediction min_tokens stop_token_ids include_stop_str_in_output bad_words
          allowed_token_ids skip_special_tokens truncate_prompt_tokens add_special_tokens
          prompt_logprobs echo return_token_ids return_progress
          continue_final_message add_generation_prompt truncation
          """);

  /** Options about the end of one prompt, so they cannot be defaults of a session. */
  private static final List<String> OF_TURNS =
      List.of("continue_final_message", "add_generation_prompt");

  /** Known fields of the OpenAI API and similar APIs that are not supported. */
  static final List<String> NOT_SERVED =
      words(
          """
          audio best_of function_call functions modalities service_tier
          suffix verbosity web_search_options
          """);

  /** Fields of the OpenAI API that have no effect here; any event may have them. */
  static final Set<String> IGNORED = Set.copyOf(words("model store stream stream_options user"));

  private static final Map<EventKind, Set<String>> ALLOWED = new EnumMap<>(EventKind.class);

  static {
    allow(EventKind.OPEN, true, "cache_salt", "messages");
    ALLOWED.get(EventKind.OPEN).removeAll(OF_TURNS);
    allow(
        EventKind.MESSAGE,
        true,
        "branch",
        "previous_turn",
        "match_history",
        "cache_salt",
        "messages",
        "prompt",
        "metadata",
        "replace",
        "cache");
    allow(
        EventKind.REGENERATE,
        true,
        "branch",
        "at_turn",
        "messages",
        "metadata",
        "replace",
        "cache");
    allow(EventKind.APPEND, false, "branch", "previous_turn", "cache_salt", "messages", "metadata");
    allow(EventKind.DELETE_TURN, false, "at_turn");
    allow(EventKind.FORK, false, "branch", "new_branch", "at_turn");
    allow(EventKind.CANCEL, false, "branch");
    allow(EventKind.CLOSE, false);
    allow(EventKind.ERASE, false);
    allow(EventKind.PREFETCH, false, "branch", "cache");
    allow(EventKind.QUERY, false, "branch", "at_turn");
  }

  private EventFields() {}

  /** The fields that events of the type may have. */
  static Set<String> allowed(EventKind kind) {
    return ALLOWED.get(kind);
  }

  /** Returns whether events of the type need a turn id. */
  static boolean needsTurn(EventKind kind) {
    return switch (kind) {
      case MESSAGE, REGENERATE, APPEND, QUERY -> true;
      default -> false;
    };
  }

  /** Returns whether any type has the field. */
  static boolean known(String field) {
    return ALLOWED.values().stream().anyMatch(fields -> fields.contains(field));
  }

  /** The names of the types, as records have them. */
  static List<String> types() {
    return Arrays.stream(EventKind.values()).map(EventFields::type).toList();
  }

  /** Returns the name of a type; null for null. */
  public static String type(EventKind kind) {
    return kind == null ? null : kind.name().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns the type with a name; null for null.
   *
   * @throws InvalidInputException if there is no such type
   */
  public static EventKind kind(String type) {
    if (type == null) {
      return null;
    }
    if (!types().contains(type)) {
      throw JsonObject.notOneOf("type", type, types());
    }
    return EventKind.valueOf(type.toUpperCase(Locale.ROOT));
  }

  private static List<String> words(String text) {
    return List.of(text.strip().split("\\s+"));
  }

  private static void allow(EventKind kind, boolean options, String... fields) {
    Set<String> all = new TreeSet<>(List.of("type", "session", "turn", "tenant"));
    all.addAll(List.of(fields));
    if (options) {
      all.addAll(OPTIONS);
    }
    ALLOWED.put(kind, all);
  }
}
