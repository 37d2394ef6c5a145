package io.radixflow.gateway.turn;

import io.radixflow.client.PartText;
import io.radixflow.client.TurnPart;
import io.radixflow.protocol.record.PartLength;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.List;

/**
 * A block of a reply that APIs show as one item: reasoning, text, or a call with its arguments.
 *
 * @param part the first part of the block
 * @param nth number of earlier blocks of the same kind, reasoning or text; 0 for a call
 * @param text the text of reasoning or text; empty for a call
 * @param call the call; null for reasoning and text
 */
public record ReplyBlock(TurnPart part, int nth, String text, ToolCall call) {

  /**
   * Returns the blocks of a reply in the order in which they were written.
   *
   * @param order see {@link PartText#of}
   */
  public static List<ReplyBlock> of(Message reply, List<PartLength> order) {
    List<ReplyBlock> blocks = new ArrayList<>();
    for (PartText run : PartText.of(reply, order)) {
      TurnPart part = run.part();
      if (part.index() < 0) {
        long nth = blocks.stream().filter(block -> block.part.equals(part)).count();
        blocks.add(new ReplyBlock(part, (int) nth, run.text(), null));
      } else if (part.opensCall()) {
        blocks.add(new ReplyBlock(part, 0, "", reply.toolCalls().get(part.index())));
      }
    }
    return blocks;
  }
}
