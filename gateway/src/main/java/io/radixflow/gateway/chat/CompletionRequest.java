package io.radixflow.gateway.chat;

import io.radixflow.gateway.chat.ChatSessions.Root;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.operators.record.ConversationEvent;

/** What requests for completions of chats and of prompts have in common. */
interface CompletionRequest {

  /** How many replies are wanted. */
  int choices();

  /** How many replies in turn are to the same prompt. */
  int choicesOfPrompt();

  /** Whether pieces are wanted as they come. */
  boolean stream();

  /** Whether the last event of a stream is to have the counts of tokens. */
  boolean usage();

  /**
   * The session of the request's turns.
   *
   * @param turn id of the first of them
   */
  Root session(String turn);

  /** The event of a choice. */
  ConversationEvent event(Exchange exchange, Root root, String turn, int choice);

  /** Writes responses. */
  CompletionJson json(String id, long created);
}
