package io.radixflow.engine.draft;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.draft.SpeculationOptions.Mode;
import java.util.Arrays;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** What the radix cache has after a request's tokens says about its reply. */
class TreePathTest {
  private static final int[] PROMPT = {1, 2, 3};
  private static final int[] REPLY = IntStream.range(100, 700).toArray();

  private final DraftPolicy policy = new DraftPolicy(new SpeculationOptions(Mode.ALWAYS, 16, 0));

  /** Cached replies to the prompt, the latest last, and the one reply that follows them. */
  private int[][] cached = {REPLY};

  private int[] reply = {};
  private int copies;

  private Drafter admitted() {
    Drafter drafter = policy.open(64, "a");
    drafter.begin(PROMPT, PROMPT.length, PROMPT.length);
    drafter.follow(this::copyNext);
    return drafter;
  }

  private int copyNext(int[] into) {
    copies++;
    for (int i = cached.length - 1; i >= 0; i--) {
      int count = Math.min(into.length, cached[i].length - reply.length);
      if (count > 0 && Arrays.mismatch(cached[i], reply) == reply.length) {
        System.arraycopy(cached[i], reply.length, into, 0, count);
        return count;
      }
    }
    return 0;
  }

  private void append(Drafter drafter, int token) {
    reply = Arrays.copyOf(reply, reply.length + 1);
    reply[reply.length - 1] = token;
    drafter.append(token);
  }

  private int[] drafts(Drafter drafter) {
    policy.beginStep(1);
    return IntStream.range(0, policy.choose(drafter, 0, 16)).map(drafter::token).toArray();
  }

  @Test
  void aReplyThatIsCachedIsDraftedFromItsFirstToken() {
    assertThat(drafts(admitted())).isEqualTo(Arrays.copyOf(REPLY, 16));
  }

  @Test
  void aReplyIsDraftedToTheEndOfWhatIsCached() {
    Drafter drafter = admitted();
    for (int i = 0; i < REPLY.length; i++) {
      assertThat(drafts(drafter)).isNotEmpty().startsWith(REPLY[i]);
      append(drafter, REPLY[i]);
    }
    assertThat(drafts(drafter)).isEmpty();
    assertThat(copies).isEqualTo(1 + (REPLY.length + TreePath.COPIED - 1) / TreePath.COPIED);
  }

  @Test
  void aReplyThatLeavesOneBranchFollowsAnother() {
    int[] other = Arrays.copyOf(REPLY, 40);
    Arrays.fill(other, 10, 40, 7);
    cached = new int[][] {REPLY, other};
    Drafter drafter = admitted();
    for (int i = 0; i < 11; i++) {
      append(drafter, REPLY[i]);
    }
    assertThat(drafts(drafter)).isEqualTo(Arrays.copyOfRange(REPLY, 11, 27));
  }

  @Test
  void theCacheIsNotAskedAgainOnceItHasNothing() {
    Drafter drafter = admitted();
    for (int i = 0; i < 50; i++) {
      append(drafter, 5000 + i);
    }
    assertThat(copies).isEqualTo(2);
    assertThat(drafts(drafter)).isEmpty();
  }

  @Test
  void pagesThatAreEvictedMeanwhileEndTheDraftsWhenTheCopyEnds() {
    Drafter drafter = admitted();
    cached = new int[][] {};
    for (int i = 0; i < TreePath.COPIED; i++) {
      assertThat(drafts(drafter)).isNotEmpty().startsWith(REPLY[i]);
      append(drafter, REPLY[i]);
    }
    assertThat(drafts(drafter)).isEmpty();
  }

  @Test
  void textsThatAreErasedGiveNoDraftsNotEvenToRunningReplies() {
    Drafter drafter = admitted();
    cached = new int[][] {};
    policy.erase();

    assertThat(drafts(drafter)).isEmpty();
    append(drafter, REPLY[0]);
    assertThat(drafts(drafter)).isEmpty();
  }

  @Test
  void aCacheThatWasWrongOftenIsNotFollowed() {
    Drafter drafter = new DraftPolicy(new SpeculationOptions(Mode.AUTO, 16, 0)).open(64, "a");
    drafter.begin(PROMPT, PROMPT.length, PROMPT.length);
    drafter.follow(into -> into.length); // always goes on with 0
    drafter.propose(1);
    double before = drafter.chanceOf(0);
    for (int i = 0; i < 20; i++) {
      drafter.append(9000 + i);
    }
    drafter.propose(1);
    assertThat(drafter.chanceOf(0)).isLessThan(before / 2);
  }

  @Property
  void draftsAreWhatTheLatestMatchingReplyGoesOnWith(
      @ForAll @IntRange(max = 20) int first,
      @ForAll @IntRange(max = 20) int second,
      @ForAll @IntRange(max = 25) int said) {
    int[] older = IntStream.range(0, 40).map(i -> i < first ? 500 + i : 1000 + i).toArray();
    int[] newer = IntStream.range(0, 40).map(i -> i < second ? 500 + i : 2000 + i).toArray();
    cached = new int[][] {older, newer};
    reply = new int[] {};
    Drafter drafter = admitted();
    for (int i = 0; i < said; i++) {
      append(drafter, 500 + i);
    }
    int[] expected =
        said <= second
            ? Arrays.copyOfRange(newer, said, Math.min(40, said + 16))
            : said <= first
                ? Arrays.copyOfRange(older, said, Math.min(40, said + 16))
                : new int[] {};
    assertThat(drafts(drafter)).isEqualTo(expected);
  }
}
