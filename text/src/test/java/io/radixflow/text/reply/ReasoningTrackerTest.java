package io.radixflow.text.reply;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ReasoningTrackerTest {

  private static final WordTokens QWEN =
      new WordTokens("<think>", "</think>", "Hm", " well", "\n\n", "\n", "k>Yes", "So</thin");
  private static final WordTokens HARMONY =
      new WordTokens(
          "<|channel|>",
          "<|message|>",
          "<|start|>",
          "<|end|>",
          "assistant",
          "analysis",
          "ana",
          "final",
          "Hm",
          "Yes");
  private static final ReplyFormat THINK =
      new ReplyFormat(ToolFormat.HERMES, ReasoningFormat.of("</think>"));
  private static final ReplyFormat CHANNELS = new ReplyFormat(ToolFormat.HARMONY, null);

  private static ReasoningTracker tracker(String promptEnd, int budget) {
    return ReasoningTokens.of(QWEN, THINK).tracker(promptEnd, budget);
  }

  private static ReasoningTracker harmony(int budget) {
    return ReasoningTokens.of(HARMONY, CHANNELS).tracker("<|start|>assistant", budget);
  }

  private static int[] ids(WordTokens tokens, String text) {
    return tokens.encodeWithSpecial(text);
  }

  private static int count(String promptEnd, String reply) {
    ReasoningTracker tracker = tracker(promptEnd, ReasoningTracker.UNLIMITED);
    Arrays.stream(ids(QWEN, reply)).forEach(tracker::accept);
    return tracker.count();
  }

  /** The tokens that may come next. */
  private static List<Integer> allowed(ReasoningTracker tracker, WordTokens tokens) {
    long[] mask = new long[(tokens.vocabSize() + 63) / 64];
    Arrays.fill(mask, -1);
    if (tracker.restricts()) {
      tracker.restrict(mask);
    }
    List<Integer> ids = new ArrayList<>();
    for (int id = 0; id < tokens.vocabSize(); id++) {
      if (BitSet.valueOf(mask).get(id)) {
        ids.add(id);
      }
    }
    return ids;
  }

  /** Draws a reply of which each token is free where the tracker leaves it free. */
  private static List<Integer> draw(
      ReasoningTracker tracker, WordTokens tokens, int seed, int length) {
    Random random = new Random(seed);
    List<Integer> reply = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      List<Integer> allowed = allowed(tracker, tokens);
      int id = allowed.get(random.nextInt(allowed.size()));
      reply.add(id);
      tracker.accept(id);
    }
    return reply;
  }

  @Test
  void countsTheTokensBetweenTheMarks() {
    assertThat(count("", "<think>\nHm well</think>\n\nYes")).isEqualTo(3);
    assertThat(count("", "\n\n<think></think>Hm")).isZero();
    assertThat(count("<think>\n", "Hm well\n</think>Yes")).isEqualTo(3);
    assertThat(count("<think>\n", "Hm well")).isEqualTo(2);
    assertThat(count("", "Hm <think>Hm</think>")).isZero();
    assertThat(count("<think></think>", "Hm")).isZero();
  }

  @Test
  void countsATokenThatHoldsPartOfAMarkByWhatElseItHolds() {
    assertThat(count("<think>", "Hm</ think")).isEqualTo(9);
    assertThat(count("<think>", "HmSo</think>Yes")).as("So</thin, k>Yes").isEqualTo(2);
  }

  @Test
  void endsTheReasoningOnceTheBudgetIsUsedUp() {
    ReasoningTracker tracker = tracker("", 2);
    for (int id : ids(QWEN, "<think>Hm")) {
      assertThat(tracker.restricts()).isFalse();
      tracker.accept(id);
    }
    tracker.accept(ids(QWEN, " well")[0]);
    assertThat(allowed(tracker, QWEN)).containsExactly(ids(QWEN, "</think>")[0]);
    tracker.accept(ids(QWEN, "</think>")[0]);
    assertThat(tracker.restricts()).isFalse();
    assertThat(tracker.count()).isEqualTo(2);
    assertThat(tracker.dependsOn(1_000)).isFalse();
  }

  @Test
  void endsReasoningThatThePromptOpensAtOnceForABudgetOfNone() {
    ReasoningTracker tracker = tracker("<think>\n", 0);
    assertThat(allowed(tracker, QWEN)).containsExactly(ids(QWEN, "</think>")[0]);
    tracker = tracker("<think>\n\n</think>\n\n", 0);
    assertThat(tracker.restricts()).isFalse();
    assertThat(tracker.dependsOn(1)).as("the reply may still open it").isTrue();
  }

  @Test
  void writesAMarkWithoutATokenOfItsOwnInSeveral() {
    WordTokens bytes = new WordTokens("</", "think", ">");
    ReasoningTracker tracker = ReasoningTokens.of(bytes, THINK).tracker("<think>", 1);
    tracker.accept('a');
    for (int id : new int[] {256, 257, 258}) {
      assertThat(allowed(tracker, bytes)).containsExactly(id);
      tracker.accept(id);
    }
    assertThat(tracker.restricts()).isFalse();
    assertThat(tracker.count()).isEqualTo(1);
  }

  @Test
  void letsACharacterBeFinishedFirst() {
    ReasoningTracker tracker = tracker("<think>", 1);
    tracker.accept(0xE2);
    assertThat(tracker.restricts()).isFalse();
    tracker.accept(0x82);
    assertThat(tracker.restricts()).isFalse();
    tracker.accept(0xAC);
    assertThat(tracker.restricts()).isTrue();
    ReasoningTracker broken = tracker("<think>", 1);
    for (int i = 0; i < 4; i++) {
      assertThat(broken.restricts()).isFalse();
      broken.accept(0xE2);
    }
    assertThat(broken.restricts()).isTrue();
  }

  @Test
  void takesTheReplyFromTheAnalysisChannelToAnother() {
    ReasoningTracker tracker = harmony(2);
    for (int id : ids(HARMONY, "<|channel|>analysis<|message|>HmHm")) {
      assertThat(tracker.restricts()).isFalse();
      tracker.accept(id);
    }
    for (int id : ids(HARMONY, "<|end|><|start|>assistant<|channel|>")) {
      assertThat(allowed(tracker, HARMONY)).containsExactly(id);
      tracker.accept(id);
    }
    assertThat(allowed(tracker, HARMONY))
        .contains(ids(HARMONY, "final")[0])
        .doesNotContain(ids(HARMONY, "analysis")[0], ids(HARMONY, "ana")[0], (int) 'a');
    assertThat(tracker.count()).isEqualTo(2);
  }

  @Test
  void countsEachMessageOfTheAnalysisChannel() {
    ReasoningTracker tracker = harmony(ReasoningTracker.UNLIMITED);
    String reply =
        "<|channel|>analysis<|message|>HmHm<|end|><|start|>assistant<|channel|>commentary"
            + "<|message|>Yes<|end|><|start|>assistant<|channel|>analysis<|message|>Hm<|end|>"
            + "<|start|>assistant<|channel|>final<|message|>Yes";
    Arrays.stream(ids(HARMONY, reply)).forEach(tracker::accept);
    assertThat(tracker.count()).isEqualTo(3);
    ReasoningTracker none = harmony(0);
    none.accept(ids(HARMONY, "<|channel|>")[0]);
    assertThat(allowed(none, HARMONY)).doesNotContain(ids(HARMONY, "analysis")[0]);
  }

  @Test
  void aReplyNeverHasMoreReasoningThanItsBudgetAndTheRestOfACharacter() {
    for (int seed = 0; seed < 300; seed++) {
      int budget = seed % 5;
      ReasoningTracker thinking = tracker(seed % 2 == 0 ? "<think>" : "", budget);
      draw(thinking, QWEN, seed, 60);
      assertThat(thinking.count()).isBetween(0, budget + 3);
      ReasoningTracker channels = harmony(budget);
      draw(channels, HARMONY, seed, 60);
      assertThat(channels.count()).isBetween(0, budget + 3);
    }
  }

  @Test
  void theStateIsAFunctionOfTheIdsSoFar() {
    for (int seed = 0; seed < 20; seed++) {
      List<Integer> reply = draw(tracker("<think>", 7), QWEN, seed, 30);
      ReasoningTracker followed = tracker("<think>", 7);
      for (int cut = 0; cut < reply.size(); cut++) {
        ReasoningTracker again = tracker("<think>", 7);
        reply.subList(0, cut).forEach(again::accept);
        assertThat(allowed(again, QWEN)).isEqualTo(allowed(followed, QWEN));
        assertThat(again.count()).isEqualTo(followed.count());
        followed.accept(reply.get(cut));
      }
    }
  }
}
