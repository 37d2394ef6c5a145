package io.radixflow.protocol.json;

import java.util.Collection;
import java.util.Optional;

/** Finds the valid name that is most likely meant by a misspelt name. */
public final class NearestName {

  private NearestName() {}

  /**
   * Returns the valid name with the smallest edit distance (insert, delete, replace, swap of
   * neighbours); on a tie the first of {@code valid}.
   *
   * @return empty if no name is within a third of the name's length, or 2 edits if that is more
   */
  public static Optional<String> of(String name, Collection<String> valid) {
    if (name.length() > 128) {
      return Optional.empty();
    }
    String best = null;
    int bestDistance = Math.max(2, name.length() / 3) + 1;
    for (String candidate : valid) {
      int distance = distance(name, candidate);
      if (distance < bestDistance) {
        best = candidate;
        bestDistance = distance;
      }
    }
    return Optional.ofNullable(best);
  }

  /**
   * Returns a sentence that offers the nearest name, with a leading blank; empty if no name is
   * near.
   */
  public static String hint(String name, Collection<String> valid) {
    return of(name, valid).map(near -> " Did you mean " + near + "?").orElse("");
  }

  private static int distance(String a, String b) {
    int[][] d = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      d[i][0] = i;
    }
    for (int j = 0; j <= b.length(); j++) {
      d[0][j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      for (int j = 1; j <= b.length(); j++) {
        int replace = d[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        d[i][j] = Math.min(replace, 1 + Math.min(d[i - 1][j], d[i][j - 1]));
        boolean swapped =
            i > 1
                && j > 1
                && a.charAt(i - 1) == b.charAt(j - 2)
                && a.charAt(i - 2) == b.charAt(j - 1);
        if (swapped) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[a.length()][b.length()];
  }
}
