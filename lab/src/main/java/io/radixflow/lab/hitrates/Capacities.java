package io.radixflow.lab.hitrates;

import io.radixflow.cli.command.common.CliException;
import java.util.List;
import java.util.TreeSet;

/** Parses the cache sizes that a user gives. */
final class Capacities {
  private static final double[] DEFAULT_SHARES = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1};

  private Capacities() {}

  /**
   * Returns capacities in pages, ascending, without repetitions.
   *
   * @param given numbers of pages, or of tokens with the suffix t
   * @throws CliException if a value is not a number, or is less than a page
   */
  static List<Integer> parse(List<String> given, int pageTokens) {
    TreeSet<Integer> pages = new TreeSet<>();
    for (String text : given) {
      pages.add(pages(text.strip(), pageTokens));
    }
    return List.copyOf(pages);
  }

  private static int pages(String text, int pageTokens) {
    boolean tokens = text.endsWith("t");
    String digits = tokens ? text.substring(0, text.length() - 1) : text;
    if (!digits.matches("[0-9]{1,18}")) {
      throw new CliException(
          "--capacity " + text + " must be a number of pages, or of tokens such as 1000000t");
    }
    long number = Long.parseLong(digits);
    long pages = tokens ? number / pageTokens : number;
    if (pages < 1 || pages > Integer.MAX_VALUE) {
      throw new CliException(
          "--capacity %s is %d pages; it must be 1 to %d (a page has %d tokens)"
              .formatted(text, pages, Integer.MAX_VALUE, pageTokens));
    }
    return (int) pages;
  }

  /**
   * Returns capacities from a hundredth of a workload's blocks to all of them, rounded to two
   * digits.
   */
  static List<Integer> of(int distinctBlocks) {
    TreeSet<Integer> pages = new TreeSet<>();
    for (double share : DEFAULT_SHARES) {
      pages.add(rounded(Math.max(1, Math.ceil(share * distinctBlocks))));
    }
    return List.copyOf(pages);
  }

  private static int rounded(double pages) {
    double unit = Math.pow(10, Math.max(0, Math.floor(Math.log10(pages)) - 1));
    return (int) Math.min(Integer.MAX_VALUE, Math.ceil(pages / unit) * unit);
  }
}
