package io.radixflow.gateway.api;

import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnMessage;
import io.radixflow.gateway.turn.TurnPiece;
import java.util.List;
import java.util.stream.Stream;

/** Answers with the whole reply when all choices have ended. */
public final class WholeReply extends ApiOutput {

  private final ReplyWriter writer;
  private final List<TurnMessage> replies;

  public WholeReply(Exchange exchange, ReplyWriter writer, int choices) {
    super(exchange, writer, choices);
    this.writer = writer;
    this.replies = Stream.generate(TurnMessage::new).limit(choices).toList();
  }

  @Override
  protected void piece(int choice, TurnPiece piece) {
    replies.get(choice).add(piece);
  }

  @Override
  protected void complete(List<TurnEnd> ends) {
    exchange.json(writer.whole(replies, ends));
  }
}
