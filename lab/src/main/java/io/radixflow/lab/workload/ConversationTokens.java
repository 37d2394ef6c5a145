package io.radixflow.lab.workload;

import io.radixflow.operators.engine.PromptException;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.Prompt;
import java.util.List;

/** Makes token ids of conversations, so that equal beginnings have equal ids. */
interface ConversationTokens {

  /**
   * The prompt of a turn.
   *
   * @param dropped oldest turns that the job left out of it, as its reply reports
   * @throws PromptException if none can be made; the job would reject the turn
   */
  Prompt prompt(Conversation conversation, List<Message> added, int dropped) throws PromptException;

  /** The ids that the next prompt has in the reply's place, its end included. */
  int[] reply(String text);

  /** Describes how exact the ids are. */
  String note();
}
