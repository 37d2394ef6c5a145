package io.radixflow.engine.draft;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Matches are those that a search of the whole text finds. */
class SuffixMatchesProperties {
  @Property
  void theBestMatchIsTheLongestOfTheLastOccurrences(
      @ForAll @Size(min = 1, max = 30) int @IntRange(min = -1, max = 3) [] text) {
    TextIndex index = new TextIndex(1);
    SuffixMatches matches = new SuffixMatches();
    for (int token : text) {
      index.add(token);
      matches.follow(index, new TextIndex[] {index});
    }
    int longest = 0;
    for (int end = 0; end < text.length - 1; end++) {
      longest = Math.max(longest, commonSuffix(text, end));
    }
    if (matches.matches() == 0) {
      assertThat(longest).isLessThan(2);
      return;
    }
    assertThat(matches.matchLength(matches.best())).isLessThanOrEqualTo(longest);
    for (int match = 0; match < matches.matches(); match++) {
      int end = matches.next(match) - 1;
      assertThat(matches.matchLength(match)).isEqualTo(commonSuffix(text, end));
      for (int ahead = 0; ahead < 5; ahead++) {
        int next = end + 1 + ahead % (text.length - end - 1);
        assertThat(matches.continuation(match, ahead)).isEqualTo(text[next]);
      }
    }
  }

  /** Tokens before an end that are the text's last, none of them a separator. */
  private static int commonSuffix(int[] text, int end) {
    int same = 0;
    while (same <= end
        && same < SuffixMatches.LONGEST
        && text[end - same] == text[text.length - 1 - same]
        && text[end - same] >= 0) {
      same++;
    }
    return same;
  }
}
