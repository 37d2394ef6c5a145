package io.radixflow.text.reply;

import java.util.List;

/**
 * The marks between which a model writes its reasoning, at the start of a reply.
 *
 * @param response the mark before the answer, which may be missing; empty if the format has none
 * @param responseEnd the mark after the answer
 */
public record ReasoningFormat(String open, String close, String response, String responseEnd) {

  private static final ReasoningFormat THINK = of("<think>", "</think>");
  private static final ReasoningFormat GRANITE =
      new ReasoningFormat("<think>", "</think>", "<response>", "</response>");

  /** The formats, in the order in which they are searched for in a template. */
  private static final List<ReasoningFormat> MARKED =
      List.of(
          of("[THINK]", "[/THINK]"),
          of("<seed:think>", "</seed:think>"),
          new ReasoningFormat(
              "<|START_THINKING|>", "<|END_THINKING|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
          of("<|inner_prefix|>", "<|inner_suffix|>"),
          of("<|channel>thought", "<channel|>"),
          of("◁think▷", "◁/think▷"));

  private static ReasoningFormat of(String open, String close) {
    return new ReasoningFormat(open, close, "", "");
  }

  /** Returns the marks that a chat template writes or looks for; null if it has none. */
  static ReasoningFormat of(String template) {
    for (ReasoningFormat format : MARKED) {
      if (template.contains(format.open())) {
        return format;
      }
    }
    if (!template.contains("</think>")) {
      return null;
    }
    return template.contains("<response>") ? GRANITE : THINK;
  }

  /**
   * Returns whether a reply begins inside the reasoning, because its prompt ends with the opening
   * mark.
   */
  boolean openAt(CharSequence promptEnd) {
    return promptEnd.toString().stripTrailing().endsWith(open);
  }
}
