package io.radixflow.gateway.turn;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.radixflow.client.PartText;
import io.radixflow.client.TurnPart;
import io.radixflow.gateway.turn.TurnFailure.Reason;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.protocol.record.Reply.TopLogprob;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.Usage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.BeforeTry;

class TurnFollowerProperties {

  private static final String TEXT = "The \uD83D\uDE00 quick brown fox — jumps over the lazy dog. ";

  private final TurnKey key = new TurnKey("", "s", "t");
  private final Deque<Runnable> tasks = new ArrayDeque<>();
  private final List<TurnPiece> pieces = new ArrayList<>();
  private final List<TurnEnd> ends = new ArrayList<>();
  private final List<TurnFailure> failures = new ArrayList<>();
  private WaitingText all = new WaitingText(1_000_000);
  private int closed;
  private int asked;

  @BeforeTry
  void forget() {
    tasks.clear();
    pieces.clear();
    ends.clear();
    failures.clear();
    all = new WaitingText(1_000_000);
    closed = 0;
    asked = 0;
  }

  private TurnFollower follower(int offset, int buffer) {
    TurnListener listener =
        new TurnListener() {
          @Override
          public void piece(TurnPiece piece) {
            pieces.add(piece);
          }

          @Override
          public void ended(TurnEnd end) {
            ends.add(end);
          }

          @Override
          public void failed(TurnFailure failure) {
            failures.add(failure);
          }
        };
    return new TurnFollower(
        key,
        null,
        offset,
        new Following(tasks::add, false, buffer, TurnObserver.NONE),
        listener,
        new TurnMetrics(new PrometheusRegistry(), () -> 0),
        new TurnFollower.Owner() {
          @Override
          public void finished(TurnFollower follower, boolean cancel) {
            closed++;
          }

          @Override
          public void ask(TurnFollower follower) {
            asked++;
          }

          @Override
          public WaitingText waiting() {
            return all;
          }
        });
  }

  private static ReplyDelta delta(int from, int to, String finishReason) {
    int begin = TEXT.offsetByCodePoints(0, from);
    int end = TEXT.offsetByCodePoints(0, to);
    return new ReplyDelta(
        "s",
        "main",
        "t",
        0,
        from,
        from,
        to - from,
        1,
        TEXT.substring(begin, end),
        finishReason,
        Usage.NONE);
  }

  private void run() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }

  /**
   * Deltas are resent from earlier on, as after failures, while the listener pauses and resumes.
   */
  @Property
  void piecesJoinToTheReplyWhateverIsResentAndWheneverTheListenerPauses(
      @ForAll long seed, @ForAll @IntRange(min = 0, max = 20) int offset) {
    Random random = new Random(seed);
    int length = TEXT.codePointCount(0, TEXT.length());
    TurnFollower follower = follower(offset, 1000);
    int at = 0;
    int most = 0;
    while (at < length) {
      int to = Math.min(length, at + 1 + random.nextInt(5));
      follower.delta(delta(at, to, null));
      most = Math.max(most, to);
      at = random.nextInt(6) == 0 ? random.nextInt(to) : to;
      if (random.nextInt(4) == 0) {
        follower.pause();
      }
      if (random.nextInt(4) == 0) {
        follower.resume();
      }
      if (random.nextBoolean()) {
        run();
      }
    }
    follower.delta(delta(length, length, "stop"));
    follower.resume();
    run();
    int expected = offset;
    StringBuilder joined = new StringBuilder();
    for (TurnPiece piece : pieces) {
      assertThat(piece.offset()).isEqualTo(expected);
      expected += piece.text().codePointCount(0, piece.text().length());
      joined.append(piece.text());
    }
    assertThat(joined.toString()).isEqualTo(TEXT.substring(TEXT.offsetByCodePoints(0, offset)));
    assertThat(ends).hasSize(1);
    assertThat(closed).isOne();
    assertThat(all.characters()).isZero();
  }

  @Example
  void aListenerThatPausesTooLongIsCutOffAndItsMemoryIsBounded() {
    TurnFollower follower = follower(0, 20);
    follower.pause();
    for (int i = 0; i + 5 < 40; i += 5) {
      follower.delta(delta(i, i + 5, null));
    }
    run();
    assertThat(pieces).isEmpty();
    assertThat(failures).extracting(TurnFailure::reason).containsExactly(Reason.TOO_SLOW);
    assertThat(closed).isOne();
    follower.delta(delta(40, 45, null));
    assertThat(tasks).isEmpty();
    assertThat(all.characters()).isZero();
  }

  @Example
  void logProbabilitiesThatWaitCountForTheBoundToo() {
    TurnFollower follower = follower(0, 500);
    follower.pause();
    for (int i = 0; i < 5; i++) {
      List<TopLogprob> top = Collections.nCopies(20, new TopLogprob(1, "b", -1));
      follower.delta(
          new ReplyDelta(
              "s",
              "main",
              "t",
              0,
              i,
              i,
              1,
              1,
              "a",
              null,
              -1,
              null,
              null,
              null,
              0,
              Usage.NONE,
              null,
              List.of(new TokenLogprob(1, "a", 0, top)),
              null,
              null));
    }
    run();
    assertThat(failures).extracting(TurnFailure::reason).containsExactly(Reason.TOO_SLOW);
    assertThat(all.characters()).isZero();
  }

  @Example
  void manySlowListenersTogetherAreBoundedToo() {
    all = new WaitingText(1000);
    for (int slow = 0; slow < 100; slow++) {
      TurnFollower follower = follower(0, 320);
      follower.pause();
      for (int i = 0; i < 40; i += 5) {
        follower.delta(delta(i, i + 5, null));
      }
    }
    run();
    assertThat(failures).hasSizeGreaterThan(50);
    assertThat(all.characters()).isLessThan(1000 + 100 * 320 / 16);
  }

  @Example
  void aGapHasTheJobAskedAndItsAnswerFillsIt() {
    TurnFollower follower = follower(3, 100);
    assertThat(follower.beginToAsk()).isTrue();
    assertThat(follower.beginToAsk()).isFalse();
    follower.delta(delta(7, 9, null));
    assertThat(asked).isOne();
    follower.state(state("running", 9, null), false);
    follower.delta(delta(7, 9, null));
    follower.delta(delta(9, 12, "stop"));
    run();
    assertThat(pieces).extracting(TurnPiece::offset).containsExactly(3);
    assertThat(pieces.get(0).text()).isEqualTo(TEXT.substring(3, TEXT.offsetByCodePoints(0, 12)));
    assertThat(ends).hasSize(1);
  }

  @Example
  void aTurnThatIsDoneEndsWithWhatTheJobKnows() {
    TurnFollower follower = follower(0, 100);
    follower.beginToAsk();
    follower.state(state("done", 5, "length"), false);
    run();
    assertThat(pieces).extracting(TurnPiece::text).containsExactly("The \uD83D\uDE00");
    assertThat(ends).extracting(TurnEnd::finishReason).containsExactly("length");
  }

  private static Reply.TurnState state(String status, int length, String finishReason) {
    return new Reply.TurnState(
        "t",
        status,
        "main",
        "",
        0,
        0,
        null,
        List.of(),
        TEXT.substring(0, TEXT.offsetByCodePoints(0, length)),
        null,
        finishReason,
        null,
        Usage.NONE,
        null);
  }

  @Example
  void aClosedStreamHearsNothing() {
    TurnFollower follower = follower(0, 20);
    follower.delta(delta(0, 5, null));
    follower.close();
    run();
    follower.delta(delta(5, 6, "stop"));
    assertThat(tasks).isEmpty();
    assertThat(pieces).isEmpty();
    assertThat(ends).isEmpty();
  }

  private static final List<TurnPiece> PARTS =
      List.of(
          piece(TurnPart.REASONING, "I have to look. \uD83D\uDE00"),
          piece(TurnPart.CONTENT, "Let me see"),
          piece(TurnPart.call(0, "a"), "weather"),
          piece(TurnPart.arguments(0, "a"), "{\"city\": \"Ulm\"}"),
          piece(TurnPart.CONTENT, " and "),
          piece(TurnPart.call(1, "b"), "weather"),
          piece(TurnPart.arguments(1, "b"), "{\"city\": \"Köln\"}"));

  private static TurnPiece piece(TurnPart part, String text) {
    return new TurnPiece(0, part, text, 0, List.of());
  }

  private static ReplyDelta delta(int from, TurnPart part, String text) {
    return new ReplyDelta(
        "s",
        "main",
        "t",
        0,
        from,
        0,
        0,
        1,
        text,
        part.kind(),
        part.index(),
        part.id(),
        null,
        null,
        0,
        Usage.NONE,
        null,
        null,
        null,
        null);
  }

  private static TurnMessage joined(List<TurnPiece> given) {
    TurnMessage joined = new TurnMessage();
    given.forEach(joined::add);
    return joined;
  }

  private static Reply.TurnState state(String status, String finishReason, List<TurnPiece> so) {
    return state(status, 0, finishReason).with(joined(so).message(), joined(so).order());
  }

  private static List<PartText> runs(List<TurnPiece> given) {
    return PartText.of(joined(given).message(), joined(given).order());
  }

  private static List<TurnPiece> cut(List<TurnPiece> given, int codePoints) {
    List<TurnPiece> cut = new ArrayList<>();
    int left = codePoints;
    for (TurnPiece each : given) {
      int length = Math.min(left, each.text().codePointCount(0, each.text().length()));
      String text = each.text();
      if (length > 0) {
        cut.add(piece(each.part(), text.substring(0, text.offsetByCodePoints(0, length))));
      }
      left -= length;
    }
    return cut;
  }

  @Example
  void aReplyWithTextAfterACallGoesOnInItsOrderFromWhereverItIsResumed() {
    int length = PARTS.stream().mapToInt(p -> p.text().codePointCount(0, p.text().length())).sum();
    for (int offset = 0; offset <= length; offset++) {
      pieces.clear();
      ends.clear();
      TurnFollower follower = follower(offset, 10_000);
      follower.state(state("done", "tool_calls", PARTS), false);
      run();
      List<TurnPiece> all = new ArrayList<>(cut(PARTS, offset));
      all.addAll(pieces);
      assertThat(runs(all)).isEqualTo(runs(PARTS));
      assertThat(ends).hasSize(1);
    }
  }

  /**
   * Deltas are cut anywhere and resent, and now and then come behind a gap, which the answer of the
   * job fills.
   */
  @Property
  void partsOfAReplyJoinWhateverIsResentOrMissed(@ForAll long seed) {
    Random random = new Random(seed);
    TurnFollower follower = follower(0, 10_000);
    int begin = 0;
    for (TurnPiece each : PARTS) {
      int length = each.text().codePointCount(0, each.text().length());
      for (int at = 0; at < length; ) {
        int to = Math.min(length, at + 1 + random.nextInt(6));
        int from = random.nextInt(4) == 0 ? random.nextInt(at + 1) : at;
        if (random.nextInt(4) == 0) {
          follower.state(state("running", null, cut(PARTS, begin + to)), false);
        } else {
          String text = each.text();
          String piece =
              text.substring(text.offsetByCodePoints(0, from), text.offsetByCodePoints(0, to));
          follower.delta(delta(begin + from, each.part(), piece));
        }
        at = to;
        if (random.nextBoolean()) {
          run();
        }
      }
      begin += length;
    }
    follower.state(state("done", "tool_calls", PARTS), false);
    run();
    assertThat(runs(pieces)).isEqualTo(runs(PARTS));
    int expected = 0;
    for (TurnPiece piece : pieces) {
      assertThat(piece.offset()).isEqualTo(expected);
      expected += piece.text().codePointCount(0, piece.text().length());
    }
    assertThat(ends).extracting(TurnEnd::finishReason).containsExactly("tool_calls");
    assertThat(all.characters()).isZero();
  }
}
