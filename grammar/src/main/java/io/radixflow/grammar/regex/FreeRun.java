package io.radixflow.grammar.regex;

/**
 * Text that an expression surely allows next: any of some {@link CharacterGroups}, up to a number
 * of characters.
 *
 * @param length characters, {@link Regex#MANY} for any number
 * @param closed whether more characters of {@link CharacterGroups#JSON} than that are not allowed,
 *     and the expression does not end among them; otherwise this is not known
 */
public record FreeRun(long groups, int length, boolean closed) {
  static final FreeRun NONE = new FreeRun(0, 0, false);

  /** Returns whether any text of these groups and up to this number of characters is allowed. */
  public boolean covers(long others, int characters) {
    return (others & ~groups) == 0 && characters <= length;
  }

  private long worth() {
    return (long) Long.bitCount(groups) * Math.min(length, 64);
  }

  FreeRun orBetter(FreeRun other) {
    int order = Long.compare(other.worth(), worth());
    return order > 0 || order == 0 && other.groups > groups ? other : this;
  }
}
