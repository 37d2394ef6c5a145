package io.radixflow.grammar.regex;

/**
 * Counts the work of compiling one grammar, in parts of expressions and of rules, so that each
 * compilation ends after the same steps on any machine. Not thread-safe.
 */
public final class Work {
  private final long limit;
  private long spent;

  public Work() {
    this(Limits.COMPILE_WORK);
  }

  /**
   * @param limit work at which {@link #spend} refuses
   */
  public Work(long limit) {
    this.limit = limit;
  }

  /**
   * @throws GrammarException if the total work exceeds the limit
   */
  public void spend(long work) {
    spent += work;
    if (spent > limit) {
      throw GrammarException.tooLarge("it takes too much work to compile");
    }
  }
}
