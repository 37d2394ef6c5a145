package io.radixflow.operators.session;

/**
 * The predecessor of a turn in the history.
 *
 * @param turn number of the previous turn, or of the root if there is none
 * @param root number of the root that has the system prompt
 * @param hash hash of the conversation up to there, see {@link ConversationHash}; null if it is not
 *     kept
 */
public record TurnParent(long turn, long root, String hash) {}
