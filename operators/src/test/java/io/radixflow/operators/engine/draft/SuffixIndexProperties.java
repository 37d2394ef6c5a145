package io.radixflow.operators.engine.draft;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** The index finds what a search of the whole text finds. */
class SuffixIndexProperties {
  @Property
  void theBestMatchIsTheLongestOfTheLastOccurrences(
      @ForAll @Size(min = 1, max = 30) int @IntRange(min = -1, max = 3) [] text) {
    SuffixIndex index = new SuffixIndex(1);
    for (int token : text) {
      index.append(token);
    }
    int longest = 0;
    for (int end = 0; end < text.length - 1; end++) {
      longest = Math.max(longest, commonSuffix(text, end));
    }
    assertThat(index.matches() > 0).isEqualTo(longest >= 2);
    if (longest < 2) {
      return;
    }
    assertThat(index.matchLength(index.best())).isLessThanOrEqualTo(longest);
    for (int match = 0; match < index.matches(); match++) {
      int end = index.next(match) - 1;
      assertThat(index.matchLength(match)).isEqualTo(commonSuffix(text, end));
      for (int ahead = 0; ahead < 5; ahead++) {
        int next = end + 1 + ahead % (text.length - end - 1);
        assertThat(index.continuation(match, ahead)).isEqualTo(text[next]);
      }
    }
  }

  /** Tokens before an end that are the text's last, none of them a separator. */
  private static int commonSuffix(int[] text, int end) {
    int same = 0;
    while (same <= end
        && same < SuffixIndex.LONGEST
        && text[end - same] == text[text.length - 1 - same]
        && text[end - same] >= 0) {
      same++;
    }
    return same;
  }
}
