package io.radixflow.lab.traffic;

import io.radixflow.engine.EngineRequest;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.template.Message;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/** Makes up turns for measurements. */
public final class ConversationSource {
  private static final List<String> WORDS =
      List.of(
          "what", "harbour", "light", "tells", "of", "the", "storm", "when", "boats", "return",
          "and", "who", "keeps", "watch", "over", "night", "wind", "tide", "name", "three");

  private ConversationSource() {}

  /** Returns a nonsense question of a few words. */
  public static String question(SplittableRandom random) {
    return random
        .ints(3 + random.nextInt(8), 0, WORDS.size())
        .mapToObj(WORDS::get)
        .collect(Collectors.joining(" ", "", "?"));
  }

  /**
   * Returns a builder of a user's message with a greedy reply of at most {@code maxTokens} tokens.
   */
  public static ConversationEvent.Builder message(
      String session, String turn, String text, int maxTokens) {
    return ConversationEvent.builder(EventKind.MESSAGE, session, turn)
        .messages(List.of(new Message("user", text)))
        .options(GenerationOptions.greedy(maxTokens));
  }

  /**
   * Returns a request with a random prompt, which shares nothing with other prompts, and a reply of
   * a given length.
   */
  public static EngineRequest random(
      SplittableRandom random, int vocabSize, int promptTokens, int replyTokens) {
    int[] prompt = random.ints(promptTokens, 0, vocabSize).toArray();
    return EngineRequest.builder("bench", () -> prompt, replyTokens).ignoreEndOfTurn(true).build();
  }
}
