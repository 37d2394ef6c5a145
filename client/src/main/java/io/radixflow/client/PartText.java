package io.radixflow.client;

import io.radixflow.protocol.record.PartLength;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A run of a reply's text.
 *
 * @param part the part of the text
 * @param text the text; never empty
 */
public record PartText(TurnPart part, String text) {

  /**
   * Returns the texts of a reply in the order in which they were written.
   *
   * @param order lengths of the runs; empty if reasoning came first, then content, then calls. Text
   *     that the runs do not cover comes at the end.
   */
  public static List<PartText> of(Message reply, List<PartLength> order) {
    Map<TurnPart, String> left = new HashMap<>();
    List<PartText> usual = usual(reply);
    usual.forEach(each -> left.put(each.part, each.text));
    List<PartText> runs = new ArrayList<>();
    for (PartLength run : order) {
      TurnPart part = part(run, reply.toolCalls());
      String text = left.getOrDefault(part, "");
      int length = Math.min(Math.max(run.length(), 0), text.codePointCount(0, text.length()));
      int end = text.offsetByCodePoints(0, length);
      add(runs, part, text.substring(0, end));
      left.put(part, text.substring(end));
    }
    usual.forEach(each -> add(runs, each.part, left.get(each.part)));
    return runs;
  }

  private static List<PartText> usual(Message reply) {
    List<PartText> texts = new ArrayList<>();
    add(texts, TurnPart.REASONING, reply.reasoning());
    add(texts, TurnPart.CONTENT, reply.content());
    int index = 0;
    for (ToolCall call : reply.toolCalls()) {
      add(texts, TurnPart.call(index, call.id()), call.name());
      add(texts, TurnPart.arguments(index++, call.id()), call.arguments());
    }
    return texts;
  }

  private static TurnPart part(PartLength run, List<ToolCall> calls) {
    boolean known = run.index() >= 0 && run.index() < calls.size();
    return new TurnPart(run.kind(), run.index(), known ? calls.get(run.index()).id() : null);
  }

  private static void add(List<PartText> runs, TurnPart part, String text) {
    if (text == null || text.isEmpty()) {
      return;
    }
    int last = runs.size() - 1;
    if (last >= 0 && runs.get(last).part.equals(part)) {
      runs.set(last, new PartText(part, runs.get(last).text + text));
    } else {
      runs.add(new PartText(part, text));
    }
  }
}
