package io.radixflow.gateway.turn;

/**
 * The next piece of a reply.
 *
 * @param offset code points of the reply before it
 * @param text whole characters; may be empty
 * @param tokens how many tokens it stands for
 */
public record TurnPiece(int offset, String text, int tokens) {

  /** A piece without anything. */
  public static final TurnPiece NONE = new TurnPiece(0, "", 0);
}
