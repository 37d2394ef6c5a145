package io.radixflow.text.reply;

import io.radixflow.text.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

/** The tokens that begin and end a model's reasoning. Immutable and thread-safe. */
public final class ReasoningTokens {
  private static final String CHANNEL = "<|channel|>";
  private static final String ANALYSIS = "analysis";

  final Tokenizer tokenizer;
  final byte[] open;
  final List<byte[]> closes;

  /** Whether reasoning may begin anywhere, and more than once. */
  final boolean anywhere;

  /** The text before {@link #barred}; null if no ids are barred. */
  final byte[] before;

  private final ReasoningFormat format;
  private final int[] ending;
  private final int[] barred;

  private ReasoningTokens(Tokenizer tokenizer, ReasoningFormat format) {
    this.tokenizer = tokenizer;
    this.format = format;
    anywhere = format == null;
    if (anywhere) {
      open = bytes(CHANNEL + ANALYSIS + "<|message|>");
      closes = HarmonyParser.BOUND_MARKS.stream().map(ReasoningTokens::bytes).toList();
      before = bytes(CHANNEL);
      ending = tokenizer.encodeWithSpecial("<|end|><|start|>assistant" + CHANNEL);
      barred = beginning(tokenizer, ANALYSIS);
    } else {
      open = bytes(format.open());
      closes = List.of(bytes(format.close()));
      before = null;
      ending = tokenizer.encodeWithSpecial(format.close());
      barred = new int[0];
    }
  }

  /**
   * Returns how a model with this tokenizer marks reasoning; null if its format has no reasoning.
   */
  public static ReasoningTokens of(Tokenizer tokenizer, ReplyFormat format) {
    boolean harmony = format.tools() == ToolFormat.HARMONY;
    return harmony || format.reasoning() != null
        ? new ReasoningTokens(tokenizer, harmony ? null : format.reasoning())
        : null;
  }

  /**
   * Returns a tracker for the ids of one reply.
   *
   * @param promptEnd the text of the prompt, or its last characters, which show whether the reply
   *     begins inside the reasoning
   * @param budget number of reasoning tokens after which reasoning is ended
   */
  public ReasoningTracker tracker(CharSequence promptEnd, int budget) {
    return new ReasoningTracker(this, format != null && format.openAt(promptEnd), budget);
  }

  /** The number of ids that end reasoning. */
  int endingLength() {
    return ending.length;
  }

  int ending(int index) {
    return ending[index];
  }

  /** Removes from a mask the ids that would begin reasoning after {@link #before}. */
  void bar(long[] mask) {
    for (int id : barred) {
      mask[id >> 6] &= ~(1L << id);
    }
  }

  private static int[] beginning(Tokenizer tokenizer, String word) {
    return IntStream.range(0, tokenizer.vocabSize())
        .filter(id -> tokenizer.byteCount(id) > 0)
        .filter(
            id -> {
              String text = new String(tokenizer.bytes(id), StandardCharsets.UTF_8);
              return word.startsWith(text) || text.startsWith(word);
            })
        .toArray();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
