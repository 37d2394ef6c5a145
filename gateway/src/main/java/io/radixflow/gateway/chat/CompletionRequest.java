package io.radixflow.gateway.chat;

import io.radixflow.gateway.api.GenerationFields;
import io.radixflow.gateway.api.RequestFields;
import io.radixflow.gateway.api.SessionFinder.Root;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.protocol.record.ConversationEvent;
import java.util.Collection;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A request for completions, of a chat or of prompts. */
interface CompletionRequest {

  /**
   * The common fields of both kinds of requests, except fields that have the same name in events.
   */
  Set<String> COMMON =
      RequestFields.names(
          """
          model stream stream_options n max_tokens logprobs ignore_eos response_format
          structured_outputs guided_json guided_regex guided_grammar guided_choice
          min_tokens stop_token_ids include_stop_str_in_output no_stop_trim bad_words
          allowed_token_ids skip_special_tokens prompt_logprobs return_token_ids
          return_tokens_as_token_ids timings_per_token return_progress user
          """);

  /**
   * Returns the fields that a request may have.
   *
   * @param own names besides the common fields, with spaces between them
   */
  static Set<String> served(String own) {
    return Stream.of(GenerationFields.SAME, COMMON, ReplyShape.FIELDS, RequestFields.names(own))
        .flatMap(Collection::stream)
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Returns how many replies the request asks for. */
  int choices();

  /** Returns how many consecutive choices have the same prompt. */
  int choicesOfPrompt();

  /** Returns whether the client wants a stream of pieces. */
  boolean stream();

  /** Returns which events of a stream have token counts. */
  StreamUsage usage();

  /** Returns which timings a stream shows. */
  Timings timings();

  /**
   * Returns the session of the request's turns.
   *
   * @param turn id of the first turn
   */
  Root session(String turn);

  /** Returns the event of a choice. */
  ConversationEvent event(Exchange exchange, Root root, String turn, int choice);

  /** Returns the writer of the responses. */
  CompletionJson json(String id, long created);
}
